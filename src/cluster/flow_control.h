// Decides how many requests are sent to an API server at once, from its answers: with API Priority
// and Fairness an overloaded server answers 429.
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
// Each time as many answers as the limit have succeeded, it rises by one. A 429 halves it, once for
// all requests that were under way together, and nothing is sent for as long as the server asks.
class FlowControl {
 public:
  // kBackground requests are sent one at a time while a critical one is under way or waits, so that
  // they are not starved.
  enum class Priority { kCritical, kBackground };

  struct Options {
    int first = 32;  // under way at once
    int least = 2;
    int most = 64;
    int most_background = 4;
    // Requests per second, and the burst after a pause; 0 for no such limit.
    double rate = 0;
    double burst = 1;
    // Called for each answer of FlowControlled; status 0: no answer came.
    std::function<void(std::string_view method, int status, base::Duration took)> on_answer{};
  };

  FlowControl(base::Clock& clock, Options options);

  // Blocks until at least one request may be sent; returns how many, at most `wanted`. 0 after
  // Stop.
  int Begin(Priority priority, int wanted);
  // Every permitted request must be reported by one of these, alone or together with others.
  void EndWell(Priority priority, int count = 1);
  void EndBadly(Priority priority);  // an error that says nothing about the server's load
  // 429: send again after this long; nullopt for our own choice.
  void EndRefused(Priority priority, std::optional<std::chrono::seconds> retry_after);
  // Ends all waits.
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
  void ReportAnswer(std::string_view method, int status, base::Duration took) const {
    if (options_.on_answer) options_.on_answer(method, status, took);
  }

 private:
  using Instant = std::chrono::steady_clock::time_point;
  int GrantLocked(Priority priority, int wanted, Instant now);
  // Until when nothing can be permitted; nullopt: until something changes.
  std::optional<Instant> HoldLocked(Priority priority, Instant now) const;
  void RefillLocked(Instant now);
  void WakeLocked();
  int& UnderWay(Priority priority) {
    return priority == Priority::kCritical ? critical_ : background_;
  }

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

// Sends through `to` as `flow` permits. The server has not carried out what it answers with 429, so
// that is sent again, whatever its verb, up to kMaxTriesWhenBusy times. Watches and other streams
// are not limited.
inline constexpr int kMaxTriesWhenBusy = 8;
std::unique_ptr<Transport> FlowControlled(std::shared_ptr<Transport> to, FlowControl& flow,
                                          FlowControl::Priority priority);

// Lets several clients share a transport. A request of this client fails if its whole answer has
// not come within `deadline`; 0 for the transport's own limit.
std::unique_ptr<Transport> SharedTransport(std::shared_ptr<Transport> to,
                                           std::chrono::milliseconds deadline = {});

}  // namespace cluster
