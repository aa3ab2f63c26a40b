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
// The last part of it is given up in steps of kReserveStep only, and is filled up when the store is
// closed: to open it takes a side file of 32 KB, and to delete what a log of its own takes.
inline constexpr uint64_t kLastReserve = 1 << 20;
inline constexpr uint64_t kReserveStep = 128 << 10;

class Reserve {
 public:
  // "" keeps nothing back and is never short.
  explicit Reserve(std::string path) : path_(std::move(path)) {}

  // Keeps the room back where the disk has it to spare. Whether room is short: then nothing new is
  // to be made.
  bool IsShort();
  // Gives room up: all but the last part, then that step by step. Whether there was any.
  bool Release();
  // Keeps the last part back, or what the disk still has of it.
  void KeepLast();

 private:
  bool Keep();

  const std::string path_;
  bool is_kept_ = false;
};

}  // namespace local::store
