// TensorFlow's records, which TensorBoard's event files are made of:
//
//   length   8 bytes, little endian
//   CRC      4 bytes, of the length
//   data
//   CRC      4 bytes, of the data
//
// Both are CRC32C (Castagnoli), rotated right by 15 bits, plus 0xa282ead8. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace runs {

uint32_t MaskedCrc32c(std::string_view data);

// A longer record counts as damage: scalars take a hundred bytes.
inline constexpr size_t kMaxRecord = 64 << 20;

// Reads a file that is still being written, piece by piece.
class RecordReader {
 public:
  // Calls `visit` for each record that is complete with these bytes; the rest waits for more.
  // Returns false, from then on always, once a CRC is wrong: the next record cannot be found then.
  bool Feed(std::string_view bytes, const std::function<void(std::string_view record)>& visit);
  bool is_damaged() const { return is_damaged_; }
  // Incomplete bytes.
  size_t pending() const { return rest_.size(); }

 private:
  std::string rest_;
  bool is_damaged_ = false;
};

}  // namespace runs
