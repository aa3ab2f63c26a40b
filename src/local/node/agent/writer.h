// Writes what the node agent has to say to the API, on a thread of its own: the start of a pod
// never waits for a write, and what changes faster than it can be written is written once.
#pragma once

#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/backoff.h"
#include "cluster/client.h"
#include "text/json.h"

namespace local::node {

// Which pod; by uid, so that a successor of the same name is spared.
struct PodIdentity {
  std::string uid;
  std::string namespace_name;
  std::string name;
};

// Every method from any thread; none blocks.
class StatusWriter {
 public:
  // `client` outlives it.
  explicit StatusWriter(cluster::Client& client);
  ~StatusWriter();  // what has not been written is found again by the next agent
  StatusWriter(const StatusWriter&) = delete;
  StatusWriter& operator=(const StatusWriter&) = delete;

  // The pod's whole next status. Tried again until it is written, replaced, or the pod is gone.
  void PutStatus(const PodIdentity& pod, text::Json status);
  // After its status: the pod's processes have ended, the object may go.
  void DeletePod(const PodIdentity& pod);
  // Makes the Node object, or brings it up to date.
  void PutNode(text::Json node);

 private:
  struct Pending {
    PodIdentity pod;
    std::optional<text::Json> status;
    bool is_to_be_deleted = false;
  };
  using Pods = std::map<std::string, Pending>;  // by uid

  void Run();
  // What is to be tried again.
  Pods WritePods(Pods pods);
  bool WriteNode(const text::Json& node);

  cluster::Client& client_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool is_stopped_ = false;
  Pods pods_;
  std::optional<text::Json> node_;
  base::Backoff backoff_{std::chrono::milliseconds(100), std::chrono::seconds(10)};
  std::thread thread_;
};

}  // namespace local::node
