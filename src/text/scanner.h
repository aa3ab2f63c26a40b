// Finds the ends of JSON values without parsing them. For text/projection.cc and
// text/member_stream.cc.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/result.h"
#include "text/json_builder.h"

namespace text {

// For each byte, whether it opens or closes a nested value.
inline constexpr std::array<bool, 256> kNests = [] {
  std::array<bool, 256> table{};
  for (const char byte : {'"', '{', '}', '[', ']'}) table[static_cast<unsigned char>(byte)] = true;
  return table;
}();

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  size_t at() const { return at_; }
  // Skips blanks first; 0 at the end.
  char Peek() {
    while (at_ < text_.size() && IsBlank(text_[at_])) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool Take(char wanted) {
    if (Peek() != wanted) return false;
    ++at_;
    return true;
  }
  // Including its quotes.
  base::Result<std::string_view> String() {
    if (Peek() != '"') return Broken("a string is missing");
    const size_t begin = at_;
    if (!SkipString()) return Broken("a string does not end");
    return text_.substr(begin, at_ - begin);
  }
  base::Result<std::string_view> Value() {
    const char first = Peek();
    const size_t begin = at_;
    if (first == '"') return String();
    if (first != '{' && first != '[') {
      at_ = std::min(text_.find_first_of(",]} \t\r\n", at_), text_.size());
      if (at_ == begin) return Broken("a value is missing");
      return text_.substr(begin, at_ - begin);
    }
    size_t depth = 0;
    do {
      while (at_ < text_.size() && !kNests[static_cast<unsigned char>(text_[at_])]) ++at_;
      if (at_ >= text_.size()) {
        at_ = begin;
        return Broken("an object or array does not end");
      }
      const char c = text_[at_];
      if (c == '"') {
        if (!SkipString()) return Broken("a string does not end");
        continue;
      }
      depth += c == '{' || c == '[' ? 1 : static_cast<size_t>(-1);
      ++at_;
    } while (depth != 0);
    return text_.substr(begin, at_ - begin);
  }
  tl::unexpected<base::Error> Broken(std::string_view why) const {
    return base::Fail(base::Code::kInvalidArgument, DescribeAt(text_, at_, why));
  }

 private:
  static bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

  // Skips the string that begins here; to the end of the text when it is not terminated.
  bool SkipString() {
    for (++at_;; at_ += 2) {
      while (at_ + 8 <= text_.size() && IsPlain8(text_.data() + at_)) at_ += 8;
      while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\\') ++at_;
      if (at_ >= text_.size()) {
        at_ = text_.size();
        return false;
      }
      if (text_[at_] == '"') break;
    }
    ++at_;
    return true;
  }
  // Whether none of eight bytes is a quote or a backslash; may be false if a byte is above 0x7f.
  static bool IsPlain8(const char* at) {
    constexpr uint64_t kOnes = 0x0101010101010101;
    uint64_t bytes = 0;
    std::memcpy(&bytes, at, sizeof bytes);
    const uint64_t quote = bytes ^ (kOnes * '"');
    const uint64_t backslash = bytes ^ (kOnes * '\\');
    return (((quote - kOnes) | (backslash - kOnes) | bytes) & (kOnes * 0x80)) == 0;
  }

  const std::string_view text_;
  size_t at_ = 0;
};

}  // namespace text
