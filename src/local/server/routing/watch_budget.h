// What all watches together may leave unread by their peers.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

namespace local::server {

inline constexpr size_t kMaxUnreadWatchBytes = 64 << 20;
// Looked at after so many bytes were written to watches.
inline constexpr size_t kWatchBudgetStep = 1 << 20;

// Thread safe.
class WatchBudget {
 public:
  class Stream {
   public:
    virtual ~Stream() = default;
    virtual size_t PendingBytes() const = 0;
    // Ends it and gives back what it has not sent.
    virtual void PutOut() = 0;
  };

  // Counted while it lives.
  void Add(std::weak_ptr<Stream> stream);
  // After `bytes` were written to one of them; puts out who lets most wait while it is too much in
  // all. The caller holds no lock that PutOut takes.
  void Count(size_t bytes);

 private:
  std::vector<std::shared_ptr<Stream>> Living();

  std::atomic<size_t> since_ = 0;
  std::mutex mutex_;  // guards what follows
  std::vector<std::weak_ptr<Stream>> streams_;
};

}  // namespace local::server
