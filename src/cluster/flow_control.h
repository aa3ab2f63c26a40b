// How many requests go to an API server at once: as many as it likes, learnt from what it says
// (API Priority and Fairness answers 429 where it has had enough).
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>

#include "base/clock.h"
#include "cluster/transport.h"

namespace cluster {

// Thread safe.
//
// Answers that come well raise the limit by one for each limitful of them; a 429 halves it, once
// for all requests that were under way together, and nothing is sent for as long as the server
// asks.
class FlowControl {
 public:
  // Requests of kBackground go only while no critical one is under way or waits, and one at a time
  // otherwise, so that they come through in the end.
  enum class Lane { kCritical, kBackground };

  struct Options {
    int first = 32;  // under way at once
    int least = 2;
    int most = 64;
    int most_background = 4;
    // Requests a second and how many of them at once after a rest; 0: no such limit.
    double rate = 0;
    double burst = 1;
    // Told of each answer of FlowControlled; status 0: none came.
    std::function<void(std::string_view method, int status, base::Duration took)> on_answer{};
  };

  FlowControl(base::Clock& clock, Options options);

  // A permit for up to `wanted` requests (at least one); blocks until there is one. 0 after Stop.
  int Begin(Lane lane, int wanted);
  // Each request of a permit ends in one of these; some may end together.
  void EndWell(Lane lane, int count = 1);
  void EndBadly(Lane lane);  // an error that says nothing of the server's load
  // 429: after this long, or a time of our choice.
  void EndRefused(Lane lane, std::optional<std::chrono::seconds> retry_after);
  // Whoever waits, waits no longer.
  void Stop();
  bool is_stopped() const;

  struct View {
    int limit = 0;
    int under_way = 0;
    int waiting = 0;
    int64_t refused = 0;  // 429s since the start
  };
  View Look() const;
  base::Clock& clock() { return clock_; }
  void Tell(std::string_view method, int status, base::Duration took) const {
    if (options_.on_answer) options_.on_answer(method, status, took);
  }

 private:
  using Instant = std::chrono::steady_clock::time_point;
  int GrantLocked(Lane lane, int wanted, Instant now);
  // Until when it is certain that nothing can be granted; nullopt: until something changes.
  std::optional<Instant> HoldLocked(Lane lane, Instant now) const;
  void RefillLocked(Instant now);
  void WakeLocked();
  int& UnderWay(Lane lane) { return lane == Lane::kCritical ? critical_ : background_; }

  base::Clock& clock_;
  const Options options_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool is_stopped_ = false;
  double limit_;
  int critical_ = 0, background_ = 0;  // under way
  int critical_waiting_ = 0, background_waiting_ = 0;
  int64_t refused_ = 0;
  Instant held_until_{};
  std::optional<Instant> halved_at_;
  double tokens_;
  Instant refilled_at_;
};

// Sends through `to` within what `flow` allows, in its lane; what the server refused with 429 was
// not done, and is sent again, whatever its verb, up to kMaxTriesWhenBusy times. Watches and other
// streams pass freely.
inline constexpr int kMaxTriesWhenBusy = 8;
std::unique_ptr<Transport> FlowControlled(std::shared_ptr<Transport> to, FlowControl& flow,
                                          FlowControl::Lane lane);

// The same transport for several clients. Each request of this one has its whole answer within
// `deadline`, or fails; 0 is the transport's own.
std::unique_ptr<Transport> SharedTransport(std::shared_ptr<Transport> to,
                                           std::chrono::milliseconds deadline = {});

}  // namespace cluster
