// Board: the jobs as the page lists them, kept from what the cluster says of jobs and pods. Pure.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "arena/app/app.h"
#include "arena/jobs/jobs.h"
#include "base/clock.h"
#include "cluster/client.h"
#include "text/json.h"
#include "text/projection.h"

namespace dashboard {

// Not thread safe. A job's key is namespace/name. What a row holds changes with its job and its
// pods alone, never with the time: the page counts seconds by itself.
class Board {
 public:
  // `context` is borrowed: its program's words are used.
  explicit Board(const arena::Context& context) : context_(context) {}

  // What of jobs and pods is to be read.
  static const text::Projection& JobParts();
  static const text::Projection& PodParts();

  void ReplaceJobs(std::vector<text::Json> jobs);
  void ReplacePods(std::vector<text::Json> pods);
  void Apply(cluster::WatchEvent::Type type, text::Json job);
  void ApplyPod(cluster::WatchEvent::Type type, text::Json pod);

  struct Changes {
    std::vector<std::string> set;   // rows as JSON, that are new or not as they were
    std::vector<std::string> gone;  // keys
    bool empty() const { return set.empty() && gone.empty(); }
  };
  // Since the last Take.
  Changes Take(base::Time now);

  // As of the last Take, by key.
  const std::map<std::string, std::string>& rows() const { return rows_; }
  // What the page shows of one job besides its row: its instances; null when it is gone.
  text::Json InstancesOf(const std::string& key, base::Time now) const;

 private:
  static std::string KeyOf(const text::Json& object);
  static std::string JobKeyOf(const text::Json& pod);
  arena::TrainingJob Find(const text::Json& job, const std::string& key, base::Time now) const;

  const arena::Context& context_;
  std::map<std::string, text::Json> jobs_;
  std::map<std::string, std::map<std::string, text::Json>> pods_;  // by job's key, then name
  std::set<std::string> dirty_;
  std::map<std::string, std::string> rows_;
};

}  // namespace dashboard
