// The loop that maintains the pods of Deployments: it watches them, plans (deployment_plan.h) and
// writes.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "cluster/client.h"
#include "cluster/reflector.h"
#include "controller/loop/work_queue.h"

namespace local::daemon {

class Deployments {
 public:
  // Starts its threads. Everything is borrowed and must outlive it.
  Deployments(cluster::Client& client, base::Clock& clock);
  ~Deployments();  // the pods continue; unwritten plans are made again later
  Deployments(const Deployments&) = delete;
  Deployments& operator=(const Deployments&) = delete;

 private:
  struct Snapshot {
    text::Json deployment;
    std::vector<text::Json> pods;
    bool is_to_be_taken_up = false;
  };
  using PodMap = std::map<std::string, text::Json>;  // by uid

  void Run();
  base::Status Reconcile(const std::string& key);
  // Removes the mark of `muster down` from a Deployment that had it when this daemon started.
  base::Status TakeUpAgain(const text::Json& deployment);
  base::Status WritePods(const std::vector<const text::Json*>& removed,
                         std::vector<text::Json> created);
  std::optional<Snapshot> Look(const std::string& key);

  void ReplaceDeployments(std::vector<text::Json> deployments);
  void ReplacePods(std::vector<text::Json> pods);
  void PutPod(text::Json pod);
  void RemovePod(const text::Json& pod);
  std::unique_ptr<cluster::Reflector> ReflectDeployments();
  std::unique_ptr<cluster::Reflector> ReflectPods();

  cluster::Client& client_;
  base::Clock& clock_;
  controller::WorkQueue queue_;  // of "<namespace>/<name>"
  std::mutex mutex_;
  bool has_deployments_ = false;  // the first lists are complete
  bool has_pods_ = false;
  std::map<std::string, text::Json> deployments_;  // by key
  std::set<std::string> stopped_;                  // keys of Deployments with an earlier daemon's
                                                   // mark
  std::map<std::string, PodMap> pods_;             // by uid of the Deployment
  std::vector<std::unique_ptr<cluster::Reflector>> reflectors_;
  std::thread thread_;
};

}  // namespace local::daemon
