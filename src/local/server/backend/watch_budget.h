// Limits how much all watches together may buffer for their peers.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

namespace local::server {

inline constexpr size_t kMaxUnreadWatchBytes = 64 << 20;
// The sum is checked each time that so many bytes were written to watches.
inline constexpr size_t kWatchBudgetStep = 1 << 20;

// Thread safe.
class WatchBudget {
 public:
  class Stream {
   public:
    virtual ~Stream() = default;
    virtual size_t PendingBytes() const = 0;
    // Ends the watch and frees its buffer.
    virtual void PutOut() = 0;
  };

  // The stream counts as long as it lives.
  void Add(std::weak_ptr<Stream> stream);
  // Call it after `bytes` were written to one of the streams: while the sum is too large, ends the
  // stream that buffers most. The caller must not hold a lock that PutOut takes.
  void Count(size_t bytes);

 private:
  std::vector<std::shared_ptr<Stream>> Living();

  std::atomic<size_t> since_ = 0;
  std::mutex mutex_;  // guards the members below
  std::vector<std::weak_ptr<Stream>> streams_;
};

}  // namespace local::server
