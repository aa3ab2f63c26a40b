// How long this process may act as the leader, and a transport whose writes end with that.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>

#include "base/clock.h"
#include "cluster/transport.h"

namespace controller {

// Thread safe. The monotonic clock alone decides: a term that nobody extends ends, whatever the
// thread that extends it is waiting for.
class LeaseTerm {
 public:
  using Instant = std::chrono::steady_clock::time_point;

  // Begins ended. `clock` outlives it.
  explicit LeaseTerm(base::Clock& clock) : clock_(clock) {}
  void ExtendTo(Instant end) { end_ = end; }
  void End() { end_ = Instant::min(); }
  bool Lasts() const { return clock_.Steady() < end_.load(); }

 private:
  base::Clock& clock_;
  std::atomic<Instant> end_{Instant::min()};
};

// Forwards requests to `to`. Once the term has ended, requests that change something fail with
// kCancelled without being sent. `term` outlives it.
std::unique_ptr<cluster::Transport> BoundToTerm(std::shared_ptr<cluster::Transport> to,
                                                const LeaseTerm& term);

}  // namespace controller
