#include "ads/yaml/value.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "ads/yaml/text.h"
#include "base/strings.h"

namespace ads {
namespace {

// repr() of a date or a datetime, given its str().
std::string ReprOfTimestamp(const std::string& text) {
  int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0;
  const int found =
      std::sscanf(text.c_str(), "%d-%d-%d %d:%d:%d", &year, &month, &day, &hour, &minute, &second);
  if (found < 6) return fmt::format("datetime.date({}, {}, {})", year, month, day);
  std::string out =
      fmt::format("datetime.datetime({}, {}, {}, {}, {}", year, month, day, hour, minute);
  std::string_view rest =
      std::string_view(text).substr(std::string_view("YYYY-MM-DD HH:MM:SS").size());
  int64_t fraction = 0;
  if (rest.starts_with('.')) {
    fraction = base::ParseInt(rest.substr(1, 6)).value_or(0);
    rest.remove_prefix(7);
  }
  if (second != 0 || fraction != 0) out += fmt::format(", {}", second);
  if (fraction != 0) out += fmt::format(", {}", fraction);
  if (rest.empty()) return out + ")";
  int hours = 0, minutes = 0;
  std::sscanf(std::string(rest.substr(1)).c_str(), "%d:%d", &hours, &minutes);
  const int seconds = (hours * 60 + minutes) * 60;
  if (seconds == 0) return out + ", tzinfo=datetime.timezone.utc)";
  // A timedelta's seconds are never negative.
  const std::string delta = rest.front() == '-'
                                ? fmt::format("days=-1, seconds={}", 24 * 60 * 60 - seconds)
                                : fmt::format("seconds={}", seconds);
  return out + fmt::format(", tzinfo=datetime.timezone(datetime.timedelta({})))", delta);
}

}  // namespace

PyValue PyValue::String(std::string text) {
  PyValue value;
  value.kind = Kind::kString;
  value.text = std::move(text);
  return value;
}

PyValue PyValue::Int(int64_t number) {
  PyValue value;
  value.kind = Kind::kInt;
  value.text = std::to_string(number);
  return value;
}

bool PyValue::is_truthy() const {
  switch (kind) {
    case Kind::kNone:
      return false;
    case Kind::kBool:
      return text == "True";
    case Kind::kInt:
      return text != "0";
    case Kind::kFloat:
      return text != "0.0" && text != "-0.0";
    case Kind::kString:
      return !text.empty();
    case Kind::kTimestamp:
      return true;
    case Kind::kList:
      return !items.empty();
    case Kind::kMap:
      return !members.empty();
  }
  return false;
}

const PyValue* PyValue::Find(std::string_view key) const {
  for (const Member& member : members) {
    if (member.is_text() && member.key == key) return &member.value;
  }
  return nullptr;
}

void PyValue::Set(std::string key, PyValue value) {
  kind = Kind::kMap;
  for (Member& member : members) {
    if (member.is_text() && member.key == key) {
      member.value = std::move(value);
      return;
    }
  }
  Member member;
  member.key = std::move(key);
  member.value = std::move(value);
  members.push_back(std::move(member));
}

void PyValue::Erase(std::string_view key) {
  std::erase_if(members,
                [&](const Member& member) { return member.is_text() && member.key == key; });
}

std::string PyRepr(const PyValue& value) {
  switch (value.kind) {
    case PyValue::Kind::kNone:
      return "None";
    case PyValue::Kind::kString:
      return PyTextRepr(value.text);
    case PyValue::Kind::kTimestamp:
      return ReprOfTimestamp(value.text);
    case PyValue::Kind::kBool:
    case PyValue::Kind::kInt:
    case PyValue::Kind::kFloat:
      return value.text;
    case PyValue::Kind::kList: {
      std::string out;
      for (const PyValue& item : value.items) out += (out.empty() ? "" : ", ") + PyRepr(item);
      return fmt::format("[{}]", out);
    }
    case PyValue::Kind::kMap: {
      std::string out;
      for (const PyValue::Member& member : value.members) {
        PyValue key;
        key.kind = member.key_kind;
        key.text = member.key;
        out += fmt::format("{}{}: {}", out.empty() ? "" : ", ", PyRepr(key), PyRepr(member.value));
      }
      return fmt::format("{{{}}}", out);
    }
  }
  return "";
}

std::string PyStr(const PyValue& value) {
  const bool is_text = value.is_string() || value.kind == PyValue::Kind::kTimestamp;
  return is_text ? value.text : PyRepr(value);
}

std::string ShortRepr(const PyValue& value) {
  constexpr size_t kMaxShown = 60;
  std::string text = PyRepr(value);
  if (DecodeUtf8(text).size() <= kMaxShown) return text;
  size_t end = 0;
  for (size_t shown = 0; shown < kMaxShown; ++shown) {
    ++end;
    while (end < text.size() && static_cast<unsigned char>(text[end]) >> 6 == 2) ++end;
  }
  return text.substr(0, end) + "...";
}

// The shortest digits that read back; with an exponent below 1e-4 and from 1e16 on.
std::string PyFloatText(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  std::array<char, 64> buffer{};
  const auto scientific = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                        std::chars_format::scientific);
  const std::string_view text(buffer.data(), static_cast<size_t>(scientific.ptr - buffer.data()));
  const size_t e = text.find('e');
  int exponent = 0;
  const char* const first = text.data() + e + 1 + (text[e + 1] == '+' ? 1 : 0);
  std::from_chars(first, text.data() + text.size(), exponent);
  if (exponent < -4 || exponent >= 16) {
    return fmt::format("{}e{}{:02}", text.substr(0, e), exponent < 0 ? "-" : "+",
                       std::abs(exponent));
  }
  std::array<char, 64> plain{};
  const auto fixed =
      std::to_chars(plain.data(), plain.data() + plain.size(), value, std::chars_format::fixed);
  std::string out(plain.data(), fixed.ptr);
  if (out.find('.') == std::string::npos) out += ".0";
  return out;
}

}  // namespace ads
