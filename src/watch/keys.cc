#include "watch/keys.h"

#include <array>
#include <optional>

namespace watch {
namespace {

using Kind = Key::Kind;

constexpr size_t kLongestSequence = 16;

// The last byte of "ESC [ ... X" and "ESC O X".
std::optional<Kind> OfFinal(char final) {
  switch (final) {
    case 'A':
      return Kind::kUp;
    case 'B':
      return Kind::kDown;
    case 'H':
      return Kind::kHome;
    case 'F':
      return Kind::kEnd;
    default:
      return std::nullopt;
  }
}

// The number of "ESC [ N ~".
std::optional<Kind> OfNumber(std::string_view number) {
  if (number == "1" || number == "7") return Kind::kHome;
  if (number == "4" || number == "8") return Kind::kEnd;
  if (number == "5") return Kind::kPageUp;
  if (number == "6") return Kind::kPageDown;
  return std::nullopt;
}

}  // namespace

// Takes a whole sequence from the beginning of rest_; false if it is incomplete.
bool KeyReader::TakeSequence(std::vector<Key>& keys) {
  if (rest_.size() < 2) return false;
  if (rest_[1] != '[' && rest_[1] != 'O') {
    keys.push_back({Kind::kEscape, 0});
    rest_.erase(0, 1);
    return true;
  }
  for (size_t end = 2; end < rest_.size(); ++end) {
    const char c = rest_[end];
    const bool is_final = c >= '@' && c <= '~';
    if (!is_final && end < kLongestSequence) continue;
    const std::string_view inside = std::string_view(rest_).substr(2, end - 2);
    const auto kind = c == '~' ? OfNumber(inside) : OfFinal(c);
    if (kind) keys.push_back({*kind, 0});
    rest_.erase(0, end + 1);
    return true;
  }
  return false;
}

std::vector<Key> KeyReader::Feed(std::string_view bytes) {
  rest_ += bytes;
  std::vector<Key> keys;
  while (!rest_.empty()) {
    const char c = rest_.front();
    if (c == '\x1b') {
      if (!TakeSequence(keys)) break;
      continue;
    }
    rest_.erase(0, 1);
    if (c == '\r' || c == '\n') {
      keys.push_back({Kind::kEnter, 0});
    } else if (c == '\x7f' || c == '\b') {
      keys.push_back({Kind::kBackspace, 0});
    } else if (static_cast<unsigned char>(c) < 0x80) {
      keys.push_back({Kind::kChar, c});
    }
  }
  return keys;
}

std::vector<Key> KeyReader::Flush() {
  std::vector<Key> keys;
  if (!rest_.empty()) keys.push_back({Kind::kEscape, 0});
  rest_.clear();
  return keys;
}

}  // namespace watch
