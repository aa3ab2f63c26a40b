// Room on the disk that is kept back, so that what makes room can be written when there is none.
// One thread at a time.
#pragma once

#include <cstdint>
#include <string>

namespace local::store {

// What is kept back: this much, or 1/kReserveShare of the disk where that is less. A transaction of
// kMaxGroup deletions takes 6 MB of write-ahead log.
inline constexpr uint64_t kReserveBytes = 16 << 20;
inline constexpr uint64_t kReserveShare = 16;

class Reserve {
 public:
  // "" keeps nothing back and is never short.
  explicit Reserve(std::string path) : path_(std::move(path)) {}

  // Keeps the room back where the disk has it to spare. Whether room is short: then nothing new is
  // to be made.
  bool IsShort();
  // Gives the room up; whether there was any.
  bool Release();

 private:
  bool Keep();

  const std::string path_;
  bool is_kept_ = false;
};

}  // namespace local::store
