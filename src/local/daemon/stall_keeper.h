// Watches over the ranks of this machine's pods: of a job that does not go on, its annotation says
// who holds it up, and where that is.
#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "answers/stall/stall.h"
#include "base/clock.h"
#include "cluster/client.h"
#include "cluster/reflector.h"
#include "text/json.h"
#include "witness/stacks.h"

namespace local::daemon {

// Of a pod that runs a part of a job.
struct StallPod {
  std::string job_uid, job_name, namespace_name;
  std::string folder;  // in which its processes can be asked
  bool has_succeeded = false;
};

// Nullopt for a pod that has no job, or neither runs nor has succeeded. Pure.
std::optional<StallPod> ReadStallPod(const text::Json& pod, const std::string& state_directory);

// A thread, which sleeps while no job runs. Borrows client and clock.
class StallKeeper {
 public:
  StallKeeper(cluster::Client& client, base::Clock& clock, std::string state_directory);
  ~StallKeeper();

 private:
  // The ranks of one job.
  struct Job {
    std::string name, namespace_name;
    int world = 0;
    std::optional<answers::StallWatch> watch;
    std::map<int, std::pair<std::string, pid_t>> ranks;  // folder and pid of each that was there
    std::string noted;                                   // in its annotation
    std::string past;                                    // in that of the stalls before it
  };

  void OnPod(const text::Json& pod, bool is_gone);
  void Run();
  void Look(const std::string& uid, const std::vector<StallPod>& pods);
  void Note(Job& job);

  cluster::Client& client_;
  base::Clock& clock_;
  const std::string state_directory_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool is_stopped_ = false;
  std::map<std::string, StallPod> pods_;  // by uid; under the mutex
  std::map<std::string, Job> jobs_;       // by uid; the thread's own
  std::unique_ptr<cluster::Reflector> reflector_;
  std::thread thread_;
};

}  // namespace local::daemon
