// Guarded<T>: data that is reachable only while its mutex is held.
#pragma once

#include <condition_variable>
#include <mutex>
#include <utility>

namespace base {

template <typename T>
class Guarded {
 public:
  Guarded() = default;
  explicit Guarded(T value) : value_(std::move(value)) {}

  // Holds the lock for its own lifetime.
  class Access {
   public:
    T* operator->() { return value_; }
    T& operator*() { return *value_; }
    std::unique_lock<std::mutex>& lock() { return lock_; }

   private:
    friend class Guarded;
    Access(std::unique_lock<std::mutex> lock, T* value) : lock_(std::move(lock)), value_(value) {}
    std::unique_lock<std::mutex> lock_;
    T* value_;
  };

  Access Lock() { return Access(std::unique_lock(mutex_), &value_); }

 private:
  std::mutex mutex_;
  T value_;
};

}  // namespace base
