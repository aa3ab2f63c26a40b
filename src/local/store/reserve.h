// Disk space that is held in reserve, so that deletions can be written when the disk is full. One
// thread at a time.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

namespace local::store {

// The size of the reserve: this much, or 1/kReserveShare of the disk if that is less. A transaction
// of kMaxGroup deletions takes 6 MB of write-ahead log.
inline constexpr uint64_t kReserveBytes = 16 << 20;
inline constexpr uint64_t kReserveShare = 16;
// The last part is released only in steps of kReserveStep, and filled up again when the store is
// closed: opening it takes a side file of 32 KB, and deleting takes a log of its own.
inline constexpr uint64_t kLastReserve = 1 << 20;
inline constexpr uint64_t kReserveStep = 128 << 10;

class Reserve {
 public:
  // "": there is no reserve, and it is never short.
  explicit Reserve(std::string path) : path_(std::move(path)) {}

  // Fills the reserve as far as the disk has room. Returns whether room is short, so that nothing
  // new may be created.
  bool IsShort();
  // Releases everything but the last part, and after that the last part step by step. Returns
  // whether there was anything to release.
  bool Release();
  // Fills the last part, as far as the disk has room.
  void KeepLast();

 private:
  bool Keep();

  const std::string path_;
  bool is_kept_ = false;
};

}  // namespace local::store
