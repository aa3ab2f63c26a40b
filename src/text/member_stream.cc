#include "text/member_stream.h"

#include <fmt/format.h>

#include <utility>

#include "text/scanner.h"

namespace text {
namespace {

// How much processed input is kept before it is discarded.
constexpr size_t kCompactBytes = 256 << 10;

}  // namespace

base::Error MemberStream::Broken(std::string_view why) const {
  return {base::Code::kInvalidArgument, fmt::format("JSON, byte {}: {}", gone_ + at_ + 1, why), 0};
}

char MemberStream::Peek() {
  constexpr std::string_view kBlanks = " \t\r\n";
  while (at_ < buffer_.size() && kBlanks.find(buffer_[at_]) != std::string_view::npos) ++at_;
  return at_ < buffer_.size() ? buffer_[at_] : '\0';
}

base::Status MemberStream::Feed(std::string_view bytes) {
  if (buffer_.size() - at_ + bytes.size() > max_bytes_) {
    return base::Fail(base::Code::kExhausted, "answer too large");
  }
  buffer_.append(bytes);
  return Advance(false);
}

base::Result<Json> MemberStream::Finish() {
  TRY(Advance(true));
  if (place_ != Place::kEnd) return base::Fail(Broken("the text is cut off"));
  return Json(std::move(rest_));
}

base::Status MemberStream::Advance(bool is_all) {
  while (true) {
    TRY_ASSIGN(const bool has_moved, Step(is_all));
    if (!has_moved) break;
  }
  if (at_ == buffer_.size() || at_ >= kCompactBytes) {
    gone_ += at_;
    buffer_.erase(0, at_);
    at_ = 0;
  }
  return {};
}

base::Result<bool> MemberStream::Step(bool is_all) {
  const char next = Peek();
  const size_t pending = buffer_.size() - at_;
  if (pending == 0 || (!is_all && pending < needed_)) return false;
  needed_ = 0;
  const auto go = [this](Place place) {
    ++at_;
    place_ = place;
    return true;
  };
  switch (place_) {
    case Place::kBegin:
      if (next == '{') return go(Place::kFirstKey);
      return base::Fail(Broken("an object is missing"));
    case Place::kFirstKey:
      if (next == '}') return go(Place::kEnd);
      return StepOverMember(is_all);
    case Place::kKey:
      return StepOverMember(is_all);
    case Place::kAfterValue:
      if (next == ',') return go(Place::kKey);
      if (next == '}') return go(Place::kEnd);
      return base::Fail(Broken("a comma or brace is missing"));
    case Place::kFirstElement:
      if (next == ']') return go(Place::kAfterValue);
      return StepOverElement(is_all);
    case Place::kElement:
      return StepOverElement(is_all);
    case Place::kAfterElement:
      if (next == ',') return go(Place::kElement);
      if (next == ']') return go(Place::kAfterValue);
      return base::Fail(Broken("a comma or bracket is missing"));
    case Place::kEnd:
      return base::Fail(Broken("text after the end of the value"));
  }
  return false;
}

base::Result<bool> MemberStream::WaitForMore(bool is_all) {
  if (is_all) return base::Fail(Broken("the text is cut off"));
  const size_t pending = buffer_.size() - at_;
  needed_ = pending + pending / 2;
  return false;
}

// The value at `scanner`; nullopt while more of it may come.
std::optional<std::string_view> MemberStream::WholeValue(Scanner& scanner, bool is_all) const {
  const char first = scanner.Peek();
  const auto value = scanner.Value();
  if (!value) return std::nullopt;
  const bool has_own_end = first == '{' || first == '[' || first == '"';
  if (!has_own_end && !is_all && at_ + scanner.at() == buffer_.size()) return std::nullopt;
  return *value;
}

// A key with its value, or the long array's key and bracket.
base::Result<bool> MemberStream::StepOverMember(bool is_all) {
  Scanner scanner(std::string_view(buffer_).substr(at_));
  if (scanner.Peek() != '"') return base::Fail(Broken("a string is missing"));
  const auto key = scanner.String();
  if (!key) return WaitForMore(is_all);
  const bool has_colon = scanner.Take(':');
  const char first = scanner.Peek();
  if (first == '\0') return WaitForMore(is_all);
  if (!has_colon) return base::Fail(Broken("a colon is missing"));
  if (first == '[' && key->substr(1, key->size() - 2) == array_) {
    scanner.Take('[');
    place_ = Place::kFirstElement;
  } else {
    const auto value = WholeValue(scanner, is_all);
    if (!value) return WaitForMore(is_all);
    TRY_ASSIGN(const Json name, ParseJson(*key));
    TRY_ASSIGN(rest_[name.get_string()], ParseJson(*value));
    place_ = Place::kAfterValue;
  }
  at_ += scanner.at();
  return true;
}

base::Result<bool> MemberStream::StepOverElement(bool is_all) {
  Scanner scanner(std::string_view(buffer_).substr(at_));
  const auto element = WholeValue(scanner, is_all);
  if (!element) return WaitForMore(is_all);
  TRY(take_(*element));
  at_ += scanner.at();
  place_ = Place::kAfterElement;
  return true;
}

}  // namespace text
