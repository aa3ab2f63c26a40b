// The pods that run parts of jobs, from the store's watch.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/client.h"
#include "cluster/reflector.h"
#include "text/json.h"

namespace local::daemon {

// One watch for all users of such pods.
class JobPods {
 public:
  // `pod` is null when the pod is being deleted, or is gone; it lives as long as the call.
  using Listener = std::function<void(std::string_view uid, const text::Json* pod)>;

  // The listeners are called on a thread of its own, in their order. Borrows the client.
  JobPods(cluster::Client& client, std::vector<Listener> listeners);

 private:
  // Reports the end of all known pods but these.
  void Keep(const std::vector<text::Json>& uids);
  void Apply(const cluster::WatchEvent& event);
  void Announce(std::string_view uid, const text::Json* pod);

  const std::vector<Listener> listeners_;
  std::set<std::string, std::less<>> known_;  // uids; used by the reflector's thread only
  std::unique_ptr<cluster::Reflector> reflector_;
};

}  // namespace local::daemon
