// Board: the page's list of jobs, made from the cluster's jobs and pods. Pure.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "arena/app/app.h"
#include "arena/jobs/jobs.h"
#include "base/clock.h"
#include "cluster/client.h"
#include "dashboard/progress.h"
#include "text/json.h"
#include "text/projection.h"

namespace dashboard {

// Not thread safe. A job's key is namespace/name. A row changes only with its job and its pods,
// never with time: the page itself counts seconds.
class Board {
 public:
  // Borrows `context`, whose program determines the words.
  explicit Board(const arena::Context& context) : context_(context) {}

  // The parts of jobs and pods that it needs.
  static const text::Projection& JobParts();
  static const text::Projection& PodParts();

  void ReplaceJobs(std::vector<text::Json> jobs);
  void ReplacePods(std::vector<text::Json> pods);
  void Apply(cluster::WatchEvent::Type type, text::Json job);
  void ApplyPod(cluster::WatchEvent::Type type, text::Json pod);

  struct Changes {
    std::vector<std::string> set;   // new or changed rows as JSON
    std::vector<std::string> gone;  // keys
    // Progress in annotations, as on Kubernetes, of jobs for which it has changed.
    std::vector<JobProgress> annotated;
    // No row has changed.
    bool empty() const { return set.empty() && gone.empty(); }
  };
  // The changes since the last Take.
  Changes Take(base::Time now);

  // All rows at the last Take, by key.
  const std::map<std::string, std::string>& rows() const { return rows_; }
  // With its pods; nullopt if the job is gone.
  std::optional<arena::TrainingJob> JobOf(const std::string& key, base::Time now) const;
  // The job's instances, which the page shows besides its row; null if the job is gone.
  text::Json InstancesOf(const std::string& key, base::Time now) const;

 private:
  static std::string KeyOf(const text::Json& object);
  void TakeAnnotated(const std::string& key, std::vector<JobProgress>& changed);
  static std::string JobKeyOf(const text::Json& pod);
  arena::TrainingJob Find(const text::Json& job, const std::string& key, base::Time now) const;

  const arena::Context& context_;
  std::map<std::string, text::Json> jobs_;
  std::map<std::string, std::map<std::string, text::Json>>
      pods_;  // by the job's key, then the pod's name
  std::set<std::string> dirty_;
  std::map<std::string, std::string> rows_;
  struct Annotated {
    std::string uid, text;
  };
  std::map<std::string, Annotated> annotated_;  // by the job's key, at the last Take
};

}  // namespace dashboard
