// Until when this process may act as the leader, and the writes that end with it.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>

#include "base/clock.h"
#include "cluster/transport.h"

namespace controller {

// Thread safe. The monotonic clock alone decides: a term that nobody extends has ended, whatever
// the one who extends it is waiting for.
class LeaseTerm {
 public:
  using Instant = std::chrono::steady_clock::time_point;

  // Has ended. `clock` outlives it.
  explicit LeaseTerm(base::Clock& clock) : clock_(clock) {}
  void ExtendTo(Instant end) { end_ = end; }
  void End() { end_ = Instant::min(); }
  bool Lasts() const { return clock_.Steady() < end_.load(); }

 private:
  base::Clock& clock_;
  std::atomic<Instant> end_{Instant::min()};
};

// Sends through `to`, but changes nothing once the term has ended: such a request fails with
// kCancelled, unsent. `term` outlives it.
std::unique_ptr<cluster::Transport> BoundToTerm(std::shared_ptr<cluster::Transport> to,
                                                const LeaseTerm& term);

}  // namespace controller
