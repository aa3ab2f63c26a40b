// Packing: short texts of one kind (JSON objects as an API server prints them) in a third of their
// room, at some microseconds each: what they have in common is written down once, beforehand.
// zlib with such a dictionary needs a third less and takes eight times as long.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace text {

// Immutable, so thread safe. A packed text is its length (7 bits a byte, the lowest first, all but
// the last with the high bit set) and a block in LZ4's format, before which the dictionary lies.
class Packing {
 public:
  // Of the dictionary the last 64 KiB can be referred to.
  explicit Packing(std::string dictionary);

  std::string Pack(std::string_view text) const;
  // `packed` is what Pack returned.
  std::string Unpack(std::string_view packed) const;

 private:
  const std::string dictionary_;
  std::vector<uint32_t> places_;  // of the dictionary's sequences of four bytes, by their hash
};

}  // namespace text
