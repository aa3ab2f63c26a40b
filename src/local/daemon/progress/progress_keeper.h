// Reads the progress of running jobs from their logs and their event files.
#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>

#include "base/result.h"
#include "local/daemon/progress/event_files.h"
#include "local/daemon/progress/last_lines.h"
#include "local/daemon/progress/progress_files.h"
#include "local/daemon/progress/progress_news.h"
#include "local/node/logs/follower.h"
#include "text/json.h"

namespace local::daemon {

// A pod that runs a part of a job.
struct ProgressPod {
  std::string job_uid;
  std::string name;
  std::string uid;
  std::string container;   // whose log it is
  std::string run_folder;  // of a `muster run`: what holds its code and files; "" for none
  // Of a `submit --tensorboard` whose --logdir is on no claim: "/arena_logs/t", which is below the
  // job's folder; "" for none.
  std::string logs_path;
  // Where its event files are otherwise, on this machine; "" for none.
  std::string shared_logdir;
  runs::Millis started = 0;
  bool is_over = false;
};
// Nullopt for a pod that has no job, or has not begun to run. Pure.
std::optional<ProgressPod> ReadProgressPod(const text::Json& pod);

// A follower's thread reads, and one of its own writes and publishes once a second while a job
// runs; both sleep otherwise. Borrows the files, the news and the lines.
class ProgressKeeper {
 public:
  // Of pods that have ended, only those are read that changed after `first_version` of the store:
  // an earlier daemon has read the others.
  static base::Result<std::unique_ptr<ProgressKeeper>> Start(ProgressFiles& files,
                                                             ProgressNews& news, LastLines& lines,
                                                             std::string state_directory,
                                                             int64_t first_version);
  ~ProgressKeeper();

  // A listener of JobPods.
  void OnPod(std::string_view uid, const text::Json* pod);

 private:
  class Reading;

  ProgressKeeper(ProgressFiles& files, ProgressNews& news, LastLines& lines,
                 std::string state_directory, int64_t first_version,
                 std::unique_ptr<node::LogFollower> follower);
  // Whether a pod that ended before it was seen to run has not been read. Under the mutex.
  bool IsUnread(const std::string& uid, const text::Json& pod) const;
  void Follow(const ProgressPod& pod);
  void FollowEvents(const ProgressPod& pod);
  void Run();

  ProgressFiles& files_;
  ProgressNews& news_;
  LastLines& lines_;
  const std::string state_directory_;
  const int64_t first_version_;
  EventFiles events_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool is_stopped_ = false;
  std::map<std::string, std::string> pods_;  // job by the uid of each pod that runs
  std::set<std::string> waiting_;            // pods that have not begun to run
  std::set<std::string> followed_;           // pods whose log is read
  std::set<std::string> done_;               // pods that have ended, and need not be read again
  // Jobs without such a pod, to be closed when their logs are read; how many looks that took.
  std::map<std::string, int> ended_;
  std::map<std::string, int> reading_;  // how many logs of each job are not at their end
  const std::unique_ptr<node::LogFollower> follower_;  // ends before what its streams use
  std::thread thread_;
};

}  // namespace local::daemon
