#include "base/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>

#include "base/strings.h"
#include "base/utf8.h"

namespace base {
namespace {

constexpr int kDeepest = 64;

class JsonReader {
 public:
  explicit JsonReader(std::string_view text) : text_(text) {}

  std::optional<JsonValue> Whole() {
    auto value = Value(0);
    SkipBlank();
    if (!value || at_ != text_.size()) return std::nullopt;
    return value;
  }

 private:
  void SkipBlank() {
    while (at_ < text_.size() &&
           std::string_view(" \t\r\n").find(text_[at_]) != std::string::npos) {
      ++at_;
    }
  }
  bool Eat(char c) {
    SkipBlank();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  std::optional<JsonValue> Value(int depth) {
    SkipBlank();
    if (depth > kDeepest || at_ >= text_.size()) return std::nullopt;
    const char first = text_[at_];
    if (first == '{') return Object(depth);
    if (first == '[') return Array(depth);
    if (first == '"') {
      auto text = Text();
      if (!text) return std::nullopt;
      return JsonValue::String(*text);
    }
    return Word();
  }

  std::optional<JsonValue> Object(int depth) {
    JsonValue value;
    value.kind = JsonValue::Kind::kObject;
    ++at_;
    if (Eat('}')) return value;
    do {
      SkipBlank();
      auto name = Text();
      if (!name || !Eat(':')) return std::nullopt;
      auto member = Value(depth + 1);
      if (!member) return std::nullopt;
      value.members.emplace_back(std::move(*name), std::move(*member));
    } while (Eat(','));
    if (!Eat('}')) return std::nullopt;
    return value;
  }

  std::optional<JsonValue> Array(int depth) {
    JsonValue value;
    value.kind = JsonValue::Kind::kArray;
    ++at_;
    if (Eat(']')) return value;
    do {
      auto item = Value(depth + 1);
      if (!item) return std::nullopt;
      value.items.push_back(std::move(*item));
    } while (Eat(','));
    if (!Eat(']')) return std::nullopt;
    return value;
  }

  // A number, true, false, null; NaN and Infinity too, as Python writes them.
  std::optional<JsonValue> Word() {
    const size_t begin = at_;
    while (at_ < text_.size() &&
           (std::string_view("+-.").find(text_[at_]) != std::string::npos || IsDigit(text_[at_]) ||
            (text_[at_] >= 'a' && text_[at_] <= 'z') || (text_[at_] >= 'A' && text_[at_] <= 'Z'))) {
      ++at_;
    }
    JsonValue value;
    value.text = text_.substr(begin, at_ - begin);
    if (value.text == "null") {
      value.kind = JsonValue::Kind::kNull;
    } else if (value.text == "true" || value.text == "false") {
      value.kind = JsonValue::Kind::kBool;
    } else if (value.text == "NaN" || value.text == "Infinity" || value.text == "-Infinity" ||
               (!value.text.empty() && (IsDigit(value.text[0]) || value.text[0] == '-'))) {
      value.kind = JsonValue::Kind::kNumber;
    } else {
      return std::nullopt;
    }
    return value;
  }

  std::optional<uint32_t> FourHex() {
    if (at_ + 4 > text_.size()) return std::nullopt;
    uint32_t code = 0;
    for (int i = 0; i < 4; ++i) {
      const char c = ToLower(text_.substr(at_++, 1))[0];
      if (!IsDigit(c) && (c < 'a' || c > 'f')) return std::nullopt;
      code = code << 4 | static_cast<uint32_t>(IsDigit(c) ? c - '0' : c - 'a' + 10);
    }
    return code;
  }

  bool Escape(std::string& out) {
    constexpr std::string_view kLetters = "\"\\/bfnrt";
    constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
    if (at_ >= text_.size()) return false;
    const char letter = text_[at_++];
    if (const size_t index = kLetters.find(letter); index != std::string::npos) {
      out += kMeanings[index];
      return true;
    }
    auto code = letter == 'u' ? FourHex() : std::nullopt;
    if (!code) return false;
    if (*code >= 0xd800 && *code < 0xdc00 && text_.substr(at_, 2) == "\\u") {
      at_ += 2;
      const auto low = FourHex();
      if (!low) return false;
      code = *low >= 0xdc00 && *low < 0xe000 ? 0x10000 + ((*code - 0xd800) << 10) + (*low - 0xdc00)
                                             : 0xfffd;
    } else if (*code >= 0xd800 && *code < 0xe000) {
      code = 0xfffd;
    }
    AppendUtf8(*code, out);
    return true;
  }

  std::optional<std::string> Text() {
    if (!Eat('"')) return std::nullopt;
    std::string out;
    while (at_ < text_.size()) {
      const char c = text_[at_++];
      if (c == '"') return out;
      if (c != '\\') {
        out += c;
      } else if (!Escape(out)) {
        return std::nullopt;
      }
    }
    return std::nullopt;
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

JsonValue::JsonValue() = default;
JsonValue::~JsonValue() = default;
JsonValue::JsonValue(const JsonValue& other) = default;
JsonValue::JsonValue(JsonValue&& other) noexcept = default;
JsonValue& JsonValue::operator=(const JsonValue& other) = default;
JsonValue& JsonValue::operator=(JsonValue&& other) noexcept = default;

const JsonValue* JsonValue::Find(std::string_view name) const {
  const auto found = std::find_if(members.begin(), members.end(),
                                  [&](const auto& member) { return member.first == name; });
  return found == members.end() ? nullptr : &found->second;
}

JsonValue* JsonValue::Find(std::string_view name) {
  return const_cast<JsonValue*>(std::as_const(*this).Find(name));
}

JsonValue JsonValue::String(std::string_view text) {
  JsonValue value;
  value.kind = Kind::kString;
  value.text = text;
  return value;
}

JsonValue JsonValue::Number(int64_t number) {
  JsonValue value;
  value.kind = Kind::kNumber;
  value.text = fmt::format("{}", number);
  return value;
}

Result<JsonValue> ParseJson(std::string_view text) {
  auto value = JsonReader(text).Whole();
  if (!value) return Fail(Code::kInvalidArgument, "malformed JSON");
  return std::move(*value);
}

std::string JsonQuote(std::string_view text) {
  std::string out = "\"";
  for (const char c : ToValidUtf8(text)) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string WriteJson(const JsonValue& value) {
  std::string out;
  switch (value.kind) {
    case JsonValue::Kind::kNull:
      return "null";
    case JsonValue::Kind::kBool:
    case JsonValue::Kind::kNumber:
      return value.text;
    case JsonValue::Kind::kString:
      return JsonQuote(value.text);
    case JsonValue::Kind::kArray:
      for (const JsonValue& item : value.items) {
        out += (out.empty() ? "" : ", ") + WriteJson(item);
      }
      return "[" + out + "]";
    case JsonValue::Kind::kObject:
      for (const auto& [name, member] : value.members) {
        out += (out.empty() ? "" : ", ") + JsonQuote(name) + ": " + WriteJson(member);
      }
      return "{" + out + "}";
  }
  return "null";
}

}  // namespace base
