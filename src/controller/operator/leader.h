// Keeps asking for the Lease, and says when this process leads.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>

#include "base/clock.h"
#include "cluster/client.h"
#include "controller/operator/lease.h"
#include "controller/operator/lease_term.h"

namespace controller {

struct LeaderOptions {
  std::string namespace_name;
  std::string lease_name;
  std::string identity;
  std::chrono::seconds duration{15};
  std::chrono::milliseconds renew_deadline{10'000};
  std::chrono::milliseconds retry{2'000};
  // While another leads: its death is noticed no later than this after its Lease has run out.
  std::chrono::milliseconds standby_retry{1'000};
};

// A request about the Lease that takes longer than this has failed: within renew_deadline there is
// time for another.
inline constexpr std::chrono::seconds kLeaseRequestDeadline{4};

class Leader {
 public:
  // Starts its threads. `changed` is called on them, one at a time: with true when this process
  // begins to lead, and with false when it has not been able to renew for renew_deadline, also
  // while a request is waiting for its answer: what is led must end before the Lease does. The term
  // lasts as long. `client`, `clock` and `term` outlive it.
  Leader(cluster::Client& client, base::Clock& clock, LeaderOptions options, LeaseTerm& term,
         std::function<void(bool leads)> changed);
  // Leaves the Lease to the next one: what is led must have ended.
  ~Leader();

 private:
  using Instant = LeaseTerm::Instant;

  void Run(const std::stop_token& stop);
  // Ends the term in time, whatever Run waits for.
  void WatchTerm(const std::stop_token& stop);
  // What a try that began at `tried_at` has brought.
  void Take(bool is_held, Instant tried_at);
  // Whether the Lease is ours now; an error when the server did not say.
  base::Result<bool> Try();
  void Release();

  cluster::Client& client_;
  base::Clock& clock_;
  const LeaderOptions options_;
  const std::function<void(bool)> changed_;
  LeaseWatcher watcher_;
  LeaseTerm& term_;
  std::mutex mutex_;
  std::condition_variable_any woken_;
  bool leads_ = false;  // this and the next: with mutex_
  Instant ends_at_{};
  std::jthread watch_thread_;  // last: these use all of the above
  std::jthread thread_;
};

}  // namespace controller
