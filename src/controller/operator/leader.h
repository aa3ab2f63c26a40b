// Competes for the Lease, and reports when this process leads.
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
  // While another leads: how soon after the end of its Lease its death is noticed.
  std::chrono::milliseconds standby_retry{1'000};
};

// A request about the Lease that takes longer than this has failed, which leaves time for another
// within renew_deadline.
inline constexpr std::chrono::seconds kLeaseRequestDeadline{4};

class Leader {
 public:
  // Starts its threads. `changed` is called on them, one call at a time: with true when this
  // process begins to lead, and with false when it has not been able to renew the Lease for
  // renew_deadline, even while a request waits for its answer. The work of the leader must end
  // before the Lease does, and the term lasts as long. `client`, `clock` and `term` outlive it.
  Leader(cluster::Client& client, base::Clock& clock, LeaderOptions options, LeaseTerm& term,
         std::function<void(bool leads)> changed);
  // Releases the Lease to the next leader: the work of this one must have ended.
  ~Leader();

 private:
  using Instant = LeaseTerm::Instant;

  void Run(const std::stop_token& stop);
  // Ends the term in time, whatever Run waits for.
  void WatchTerm(const std::stop_token& stop);
  // Handles the result of an attempt that began at `tried_at`.
  void Take(bool is_held, Instant tried_at);
  // Whether the Lease is ours now; an error when the server gave no answer.
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
  bool leads_ = false;  // this and the next: guarded by mutex_
  Instant ends_at_{};
  std::jthread watch_thread_;  // last: these use all members above
  std::jthread thread_;
};

}  // namespace controller
