// Writes the node agent's updates to the API, on a thread of its own: the start of a pod never
// waits for a write, and changes that come faster than they can be written are combined.
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

// Identifies a pod by uid, so that a successor of the same name is not affected.
struct PodIdentity {
  std::string uid;
  std::string namespace_name;
  std::string name;
};

// Callable from any thread; never blocks.
class StatusWriter {
 public:
  // `client` must outlive it.
  explicit StatusWriter(cluster::Client& client);
  ~StatusWriter();  // unwritten updates are computed again by the next agent
  StatusWriter(const StatusWriter&) = delete;
  StatusWriter& operator=(const StatusWriter&) = delete;

  // The complete next status of the pod. Retried until it is written, replaced, or the pod is gone.
  void PutStatus(const PodIdentity& pod, text::Json status);
  // Deletes the object after its status is written: the pod's processes have ended.
  void DeletePod(const PodIdentity& pod);
  // Creates or updates the Node object.
  void PutNode(text::Json node);

 private:
  struct Pending {
    PodIdentity pod;
    std::optional<text::Json> status;
    bool is_to_be_deleted = false;
  };
  using Pods = std::map<std::string, Pending>;  // by uid

  void Run();
  // Returns the pods whose write has to be retried.
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
