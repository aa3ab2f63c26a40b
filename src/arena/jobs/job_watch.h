// JobWatch: one job and its pods as they are now, kept up to date by watches.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/guarded.h"
#include "cluster/client.h"
#include "cluster/reflector.h"

namespace arena {

// How often a wait is interrupted to check that the server answers.
inline constexpr std::chrono::seconds kProbeInterval{20};

// Two reflectors' threads update it; thread safe, so that many may wait by one pair of watches.
// Borrows the client.
class JobWatch {
 public:
  struct Snapshot {
    std::optional<text::Json> job;
    std::map<std::string, text::Json> pods;  // by name
    uint64_t version = 0;                    // another one whenever the job or a pod has changed
    bool is_job_known = false;               // the first list has come
    bool are_pods_known = false;
    std::optional<base::Error> refusal;
  };

  JobWatch(cluster::Client& client, const std::string& namespace_name, const std::string& job,
           const std::string& pod_selector);

  // Once both lists have come, blocks until `done` returns true for the current state. False at
  // `timeout`, or if the server refuses the watch. `done` runs under the lock and must only look.
  bool Wait(std::chrono::milliseconds timeout, const std::function<bool(const Snapshot&)>& done);

  // Why the server refuses, so that callers can end their loop.
  base::Status Refusal();

  // From any thread. Makes Wait call `done` again, for a reason other than the job or its pods.
  void Wake();

 private:
  void Refuse(const base::Error& error);
  void ReplaceJob(std::vector<text::Json> items);
  void ReplacePods(std::vector<text::Json> items);
  void ApplyJob(cluster::WatchEvent event);
  void ApplyPod(cluster::WatchEvent event);

  base::Guarded<Snapshot> snapshot_;
  std::condition_variable changed_;
  std::string job_name_;
  // The last members, so that their threads end first.
  std::unique_ptr<cluster::Reflector> jobs_;
  std::unique_ptr<cluster::Reflector> pods_;
};

// After this many probes in a row without an answer a wait is given up. An API server that restarts
// is back sooner.
inline constexpr int kMaxMisses = 6;

// For callers that wait in a loop: checks whether there is still something to wait for.
class JobProbe {
 public:
  JobProbe(cluster::Client& client, std::string namespace_name, std::string job)
      : client_(client), namespace_name_(std::move(namespace_name)), job_(std::move(job)) {}

  // An error if `watch` is refused, or at the kMaxMisses-th time that the server does not answer;
  // the first time is logged. A missing job is not an error.
  base::Status Look(JobWatch& watch);

 private:
  cluster::Client& client_;
  const std::string namespace_name_;
  const std::string job_;
  int misses_ = 0;
};

}  // namespace arena
