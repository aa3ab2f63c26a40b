// Feed: reads what `watch` shows from the cluster, on threads of its own.
#pragma once

#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "arena/app/app.h"
#include "arena/history/ranks.h"
#include "arena/jobs/job_watch.h"
#include "arena/jobs/jobs.h"
#include "arena/jobs/pod_use.h"
#include "arena/logs/event_tail.h"
#include "base/fd.h"
#include "cluster/client.h"
#include "cluster/reflector.h"
#include "watch/state.h"

namespace watch {

// Its threads watch the jobs and their progress. Once a second they read the processes of the job
// that is shown, which cannot be watched, and list the jobs while a row may change without them
// (ChangesWithoutNews) or the last list failed. The threads are never joined, because they may wait
// for a server that does not answer, so a Feed lives until the program ends.
class Feed {
 public:
  // Borrows everything until the program ends. `namespace_name` "": all. Errors of eventfd.
  static base::Result<Feed*> Start(cluster::Client& client, const arena::Context& context,
                                   std::string namespace_name);

  // Becomes readable when there is something new. Progress does not count, because it changes every
  // second.
  int fd() const { return news_.get(); }
  // Selects the job to read in detail; nullopt for none.
  void LookAt(const std::optional<std::pair<std::string, std::string>>& job);
  // Moves news into the state. False if there were none.
  bool Take(State& state);

 private:
  struct Shared {
    std::vector<JobRow> jobs;
    bool has_listed = false;
    std::string problem;
    std::optional<std::pair<std::string, std::string>> wanted;  // namespace and name
    std::optional<JobView> view;                                // without its log
    bool is_new = false;
  };

  Feed(cluster::Client& client, const arena::Context& context, std::string namespace_name)
      : client_(client), context_(context), namespace_name_(std::move(namespace_name)) {}
  void SignalNews();
  void HasProblem(const std::string& problem);
  void WatchJobs();
  void WatchProgress();
  // Under the mutex.
  void TakeProgress(const text::Json& job, bool is_over);
  // Returns whether to list again although no job changes.
  bool ListJobs();
  void LookAtJob();
  // From the embedded cluster by a request, from others by a watch.
  base::Result<arena::TrainingJob> Find(const std::string& namespace_name, const std::string& name);
  base::Result<arena::TrainingJob> FindWatched(const std::string& namespace_name,
                                               const std::string& name);
  std::vector<arena::RankState> Ranks(const arena::TrainingJob& job);
  // What the instances use, requested at most every kUseTick; also recorded for RankRow::used.
  const std::map<std::string, arena::PodUse>& Uses(const arena::TrainingJob& job);
  void AddPastUse(JobView& view) const;
  void AddWaits(arena::TrainingJob& job);
  const text::Json& Progress(const arena::TrainingJob& job);
  const text::Json& RanksOverTime(const std::string& job_uid);
  std::optional<JobView> See(const std::string& namespace_name, const std::string& name);

  cluster::Client& client_;
  const arena::Context& context_;
  const std::string namespace_name_;
  // For the job that is shown; used by its thread only.
  text::Json progress_;
  std::string progress_uid_;
  arena::EventTail events_;  // of that job
  std::chrono::steady_clock::time_point progress_asked_{};
  text::Json ranks_over_time_;
  std::string ranks_uid_;
  std::chrono::steady_clock::time_point ranks_asked_{};
  std::unique_ptr<arena::JobWatch> watched_;
  std::string watched_uid_, watched_key_;
  arena::RankLogs logs_;
  std::map<std::string, arena::PodUse> uses_;
  std::chrono::steady_clock::time_point uses_asked_{}, events_asked_{};
  std::map<std::string, std::string> waits_;  // what events say about instances
  struct {
    std::string uid;  // of the job
    std::string without_events, with_events;
  } reason_;
  // The processors of each instance, one value for each request.
  std::map<std::string, std::deque<std::optional<double>>> past_use_;
  base::Fd news_;  // eventfd
  std::mutex mutex_;
  Shared shared_;  // under the mutex
  // Of the jobs that run on the embedded cluster, by uid; under the mutex.
  std::map<std::string, std::vector<runs::SourceProgress>> running_;
  std::unique_ptr<cluster::Reflector> progress_watch_;
};

}  // namespace watch
