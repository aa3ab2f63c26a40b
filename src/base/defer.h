// Defer: runs a function at the end of the scope.
#pragma once

#include <utility>

namespace base {

template <typename F>
class Defer {
 public:
  explicit Defer(F f) : f_(std::move(f)) {}
  Defer(const Defer&) = delete;
  Defer& operator=(const Defer&) = delete;
  ~Defer() { f_(); }

 private:
  F f_;
};

}  // namespace base
