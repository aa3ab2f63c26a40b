#include "ads/python_value.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>

#include "base/strings.h"

namespace ads {
namespace {

// repr() of a str: single quotes unless it holds those and no double ones.
std::string ReprOfText(std::string_view text) {
  const bool has_single = text.find('\'') != std::string_view::npos;
  const bool has_double = text.find('"') != std::string_view::npos;
  const char quote = has_single && !has_double ? '"' : '\'';
  std::string out(1, quote);
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == quote || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\r') {
      out += "\\r";
    } else if (c == '\t') {
      out += "\\t";
    } else if (byte < 0x20 || byte == 0x7f) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out += c;
    }
  }
  return out + quote;
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
    if (member.is_text && member.key == key) return &member.value;
  }
  return nullptr;
}

void PyValue::Set(std::string key, PyValue value) {
  kind = Kind::kMap;
  for (Member& member : members) {
    if (member.is_text && member.key == key) {
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
  std::erase_if(members, [&](const Member& member) { return member.is_text && member.key == key; });
}

std::string PyRepr(const PyValue& value) {
  switch (value.kind) {
    case PyValue::Kind::kNone:
      return "None";
    case PyValue::Kind::kString:
      return ReprOfText(value.text);
    case PyValue::Kind::kBool:
    case PyValue::Kind::kInt:
    case PyValue::Kind::kFloat:
    case PyValue::Kind::kTimestamp:
      return value.text;
    case PyValue::Kind::kList: {
      std::string out;
      for (const PyValue& item : value.items) out += (out.empty() ? "" : ", ") + PyRepr(item);
      return fmt::format("[{}]", out);
    }
    case PyValue::Kind::kMap: {
      std::string out;
      for (const PyValue::Member& member : value.members) {
        out +=
            fmt::format("{}{}: {}", out.empty() ? "" : ", ",
                        member.is_text ? ReprOfText(member.key) : member.key, PyRepr(member.value));
      }
      return fmt::format("{{{}}}", out);
    }
  }
  return "";
}

std::string PyStr(const PyValue& value) { return value.is_string() ? value.text : PyRepr(value); }

// The shortest digits that read back; an exponent below 1e-4 and from 1e16 on.
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
