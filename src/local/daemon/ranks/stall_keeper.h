// Watches the ranks of this machine's pods. When a job is stalled, or slowed by one rank, its
// annotation says which rank holds it up, and where in the program; with --on-stall=restart that
// rank is killed.
#pragma once

#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "answers/stall/stall.h"
#include "api/on_stall.h"
#include "base/clock.h"
#include "cluster/client.h"
#include "controller/loop/event_recorder.h"
#include "gpu/meter.h"
#include "local/daemon/progress/progress_files.h"
#include "local/daemon/progress/rank_meter.h"
#include "local/daemon/ranks/meeting_files.h"
#include "local/daemon/ranks/native_search.h"
#include "local/daemon/ranks/rank_sampler.h"
#include "process/procfs.h"
#include "text/json.h"
#include "witness/stacks.h"
#include "witness/stall_word.h"

namespace local::daemon {

// A pod that is to run, runs or has run a part of a job.
struct StallPod {
  enum class Phase { kPending, kRunning, kSucceeded };
  std::string uid, job_uid, job_name, namespace_name;
  std::string folder;  // where its processes write their stacks
  Phase phase = Phase::kRunning;
  std::vector<int> gpu_units{};
  base::Time began{};  // its program, at its last restart
  api::StallPolicy policy{};
};

// Nullopt for a pod that has no job, or that has failed. Pure.
std::optional<StallPod> ReadStallPod(const text::Json& pod, const std::string& state_directory);

// A thread that sleeps while no job runs. Since it samples each rank once a second, it also feeds
// the meter of what they use, and records the waits that it finds in their stacks and the ones
// that they measure themselves. Borrows everything.
class StallKeeper {
 public:
  StallKeeper(cluster::Client& client, base::Clock& clock, std::string state_directory,
              RankFiles& files, ProgressFiles& progress, const LastLines& lines,
              gpu::Places gpus = {});
  ~StallKeeper();

  // A listener of JobPods.
  void OnPod(std::string_view uid, const text::Json* pod);

 private:
  // The ranks of one job.
  struct Job {
    std::string name, namespace_name;
    int world = 0;
    api::StallPolicy policy{};
    std::optional<answers::StallWatch> watch;  // unless the launcher in the pod tells
    std::optional<answers::Stall> stall;       // the present one
    std::optional<RankSampler> sampler;
    std::map<int, std::pair<std::string, pid_t>> ranks;  // folder and pid of each rank that was
                                                         // found
    std::string noted;                                   // the text in its annotation
    std::optional<answers::StallWatch::Instant> noted_since;  // of the stall that it describes
    std::optional<answers::Stall> logged;                     // with the stacks
    // The stall for which a rank was killed, and its process.
    std::optional<std::pair<answers::StallWatch::Instant, pid_t>> acted_on;
    size_t most_pods = 0;  // at a time; more than one, or the launcher in the pod restarts ranks
    std::string past;      // in that of earlier stalls
  };

  // The pods of one job.
  struct Peers {
    std::vector<const StallPod*> pods;
    size_t running = 0;
  };

  // Both return whether the pod's job runs. Under the mutex.
  bool Add(StallPod pod);
  bool Remove(std::string_view uid);
  void Run();
  void Look(const std::string& uid, const std::vector<StallPod>& pods, process::ProcessTree& tree);
  void Sample(const std::string& uid, Job& job, const std::vector<SampledRank>& ranks);
  bool Hear(Job& job);
  std::string NoteOf(const Job& job) const;
  static runs::StallRole RoleOf(const Job& job, int rank);
  void Note(Job& job);
  void LogStacks(Job& job, const std::map<int, std::string>& dumps) const;
  void KillMissing(Job& job);
  void NoteLast(const Job& job);
  void Forget(const std::set<std::string>& jobs, const std::set<std::string>& succeeded);

  cluster::Client& client_;
  base::Clock& clock_;
  controller::EventRecorder events_;
  const std::string state_directory_;
  ProgressFiles& progress_;
  MeetingFiles meetings_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool is_stopped_ = false;
  bool has_end_ = false;  // of a pod, since the last look
  // Guarded by the mutex. A store may hold 100,000 pods of jobs that have ended: only those of
  // jobs that run are looked at.
  std::map<std::string, StallPod, std::less<>> pods_;  // by uid
  std::map<std::string, Peers> peers_;                 // by the job's uid
  std::set<std::string> running_;                      // uids of jobs
  std::map<std::string, Job> jobs_;                    // by uid; used by the thread only
  std::set<std::string> silent_;  // folders of pods in which no Python can be asked; the same
  NativeSearch native_;           // in these; the same
  RankMeter meter_;               // the same
  gpu::Meter gpus_;               // the same
  std::thread thread_;
};

}  // namespace local::daemon
