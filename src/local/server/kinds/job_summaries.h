// One compact row per PyTorchJob, so that a list of a thousand jobs parses none of them. Kept up to
// date by the store's events: they mark rows, and whoever lists next reads what is marked again.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "local/store/store.h"
#include "text/json.h"

namespace local::server {

struct JobRow {
  std::string namespace_name;
  std::string name;
  std::string metadata;   // JSON of the object's metadata, less what a list has no use for
  text::Json selectable;  // what selectors look at
  std::string state;      // type of the last condition
  std::string status;     // as Arena says it
  base::Time created{};
  // Finished: how long it took. Otherwise it has run since `start`, if it has started.
  std::optional<base::Duration> took;
  std::optional<base::Time> start;
  double requested_gpus = 0;
  double allocated_gpus = 0;
  std::string node;

  base::Duration DurationAt(base::Time now) const;
};

// The row of a job with these pods.
JobRow SummarizeJob(const text::Json& job, const std::vector<const text::Json*>& pods,
                    base::Time now);

// Thread safe.
class JobSummaries {
 public:
  explicit JobSummaries(base::Clock& clock) : clock_(clock) {}

  // Marks what is stored. Before the first OnCommit.
  base::Status Start(store::Store& store);
  // Reads what is marked; who lists does it too.
  base::Status Refresh(store::Store& store);
  // Reads under way, and later ones, end at once with kCancelled.
  void Stop() { is_stopped_ = true; }
  // On the store's writer thread, before a write is acknowledged.
  void OnCommit(std::span<const store::EventPtr> events, int64_t version);

  // Calls `visit` for the rows after (namespace, name), of one namespace unless "", in order, until
  // it returns false. Returns the version that they are at least of. `visit` must not read rows.
  using Position = std::pair<std::string, std::string>;
  base::Result<int64_t> Visit(store::Store& store, const std::string& namespace_name,
                              const Position& after,
                              const std::function<bool(const JobRow&)>& visit);
  // The row of one job; nullopt when there is none.
  base::Result<std::optional<JobRow>> Get(store::Store& store, const Position& job);

 private:
  struct State {
    std::map<Position, JobRow> rows;
    std::set<Position> stale;
    int64_t version = 0;
  };

  base::Result<std::optional<JobRow>> Read(store::Store& store, const Position& job) const;
  base::Status RefreshLocked(store::Store& store);

  base::Clock& clock_;
  std::atomic<bool> is_stopped_{false};
  std::mutex refresh_;  // one thread refreshes; who comes later finds the rows fresh
  std::mutex mutex_;    // guards state_
  State state_;
};

}  // namespace local::server
