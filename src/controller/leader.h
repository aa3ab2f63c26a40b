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
#include "controller/lease.h"

namespace controller {

struct LeaderOptions {
  std::string namespace_name;
  std::string lease_name;
  std::string identity;
  std::chrono::seconds duration{15};
  std::chrono::seconds renew_deadline{10};
  std::chrono::seconds retry{2};
};

class Leader {
 public:
  // Starts its thread. `changed` is called on it, with true when this process begins to lead and
  // with false when it has not been able to renew for renew_deadline: what is led must end before
  // the Lease does. `client` and `clock` outlive it.
  Leader(cluster::Client& client, base::Clock& clock, LeaderOptions options,
         std::function<void(bool leads)> changed);
  // Leaves the Lease to whoever comes: what is led must have ended.
  ~Leader();

 private:
  void Run(const std::stop_token& stop);
  // Whether the Lease is ours now; an error when the server did not say.
  base::Result<bool> Try();
  void Release();

  cluster::Client& client_;
  base::Clock& clock_;
  const LeaderOptions options_;
  const std::function<void(bool)> changed_;
  LeaseWatcher watcher_;
  std::mutex mutex_;
  std::condition_variable_any stopped_;
  std::jthread thread_;  // last: uses all of the above
};

}  // namespace controller
