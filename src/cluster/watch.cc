#include <fmt/format.h>

#include <iterator>
#include <optional>
#include <utility>

#include "base/strings.h"
#include "cluster/answer_error.h"
#include "cluster/client.h"
#include "text/projection.h"

namespace cluster {
namespace {

// The largest event: the largest object that a server accepts, escaped.
constexpr size_t kMaxEventBytes = 64 << 20;

struct Line {
  std::string type;
  std::string_view object;  // its text; empty if there is none
};

// {"type":"...","object":{...}}, as servers write it; does not look into the object.
std::optional<Line> TakeApart(std::string_view line) {
  constexpr std::string_view kBegin = R"({"type":")";
  constexpr std::string_view kMiddle = R"(","object":)";
  if (!line.starts_with(kBegin) || !line.ends_with('}')) return std::nullopt;
  line.remove_prefix(kBegin.size());
  line.remove_suffix(1);
  const size_t end = line.find('"');
  if (end == std::string_view::npos || !line.substr(end).starts_with(kMiddle)) return std::nullopt;
  return Line{std::string(line.substr(0, end)), line.substr(end + kMiddle.size())};
}

base::Result<Line> Scan(std::string_view text) {
  Line line;
  TRY(text::VisitMembers(text, [&](std::string_view key, std::string_view value) -> base::Status {
    if (key == "object") {
      line.object = value;
    } else if (key == "type") {
      TRY_ASSIGN(const text::Json type, text::ParseJson(value));
      line.type = text::GetString(type, {});
    }
    return {};
  }));
  return line;
}

base::Result<WatchEvent> ReadLine(const Line& line, const ObjectReader& read,
                                  const net::Parsed& parsed) {
  using Type = WatchEvent::Type;
  if (line.object.empty()) {
    return base::Fail(base::Code::kInternal, "watch event without an object");
  }
  const bool has_text = parsed == nullptr || line.object != "null";
  const text::Document document(has_text ? line.object : "", parsed.get());
  if (line.type == "ERROR") {
    TRY_ASSIGN(const text::Json status, document.Whole());
    const int64_t code = text::GetInt(status, {"code"}).value_or(500);
    return base::Fail(ErrorFromStatus(static_cast<int>(code), text::ToJson(status)));
  }
  WatchEvent event;
  if (line.type == "ADDED") {
    event.type = Type::kAdded;
  } else if (line.type == "MODIFIED") {
    event.type = Type::kModified;
  } else if (line.type == "DELETED") {
    event.type = Type::kDeleted;
  } else if (line.type == "BOOKMARK") {
    event.type = Type::kBookmark;
  } else {
    return base::Fail(base::Code::kInternal,
                      fmt::format("watch event of unknown type \"{}\"", line.type));
  }
  auto object = read ? read(document) : document.Whole();
  if (!object) return base::Fail(object.error().Wrap("watch event"));
  event.object = std::move(*object);
  return event;
}

base::Result<WatchEvent> ParseEvent(std::string_view text, const ObjectReader& read,
                                    const net::Parsed& parsed) {
  if (const auto plain = TakeApart(text)) {
    auto event = ReadLine(*plain, read, parsed);
    // It may have more members after the object.
    if (event || event.error().code != base::Code::kInvalidArgument) return event;
  }
  auto line = Scan(text);
  if (!line) return base::Fail(line.error().Wrap("watch event"));
  return ReadLine(*line, read, parsed);
}

}  // namespace

base::Status Watch::ReadMore() {
  // Waiting may take hours, so keep only what has not been returned.
  buffer_ = buffer_.substr(next_);
  gone_ += next_;
  scanned_ -= next_;
  next_ = 0;
  TRY_ASSIGN(std::optional<std::string> bytes, body_->Read());
  if (!bytes) {
    is_over_ = true;
    return {};
  }
  std::vector<net::ParsedLine> parsed = body_->TakeParsed();
  std::move(parsed.begin(), parsed.end(), std::back_inserter(parsed_));
  if (buffer_.size() + bytes->size() > kMaxEventBytes) {
    return base::Fail(base::Code::kExhausted, "watch event too large");
  }
  if (buffer_.empty()) {
    buffer_ = std::move(*bytes);
  } else {
    buffer_ += *bytes;
  }
  return {};
}

net::Parsed Watch::TakeParsed(size_t offset) {
  const uint64_t begin = gone_ + offset;
  while (!parsed_.empty() && parsed_.front().begin < begin) parsed_.pop_front();
  if (parsed_.empty() || parsed_.front().begin != begin) return nullptr;
  net::Parsed object = std::move(parsed_.front().object);
  parsed_.pop_front();
  return object;
}

base::Result<std::optional<WatchEvent>> Watch::Next() {
  while (true) {
    const size_t newline = buffer_.find('\n', scanned_);
    if (newline == std::string::npos) {
      scanned_ = buffer_.size();
      if (is_over_) break;
      TRY(ReadMore());
      continue;
    }
    const size_t begin = next_;
    const std::string_view line =
        base::Trim(std::string_view(buffer_).substr(begin, newline - begin));
    next_ = scanned_ = newline + 1;
    if (line.empty()) continue;
    TRY_ASSIGN(WatchEvent event, ParseEvent(line, read_, TakeParsed(begin)));
    return std::optional(std::move(event));
  }
  if (base::Trim(std::string_view(buffer_).substr(next_)).empty()) {
    return std::optional<WatchEvent>();
  }
  return base::Fail(base::Code::kUnavailable, "the watch broke off inside an event");
}

}  // namespace cluster
