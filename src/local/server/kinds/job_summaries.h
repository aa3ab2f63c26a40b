// One compact row for each PyTorchJob, so that a list of a thousand jobs parses none of them. The
// store's events mark rows as stale, and the next list reads the stale ones again.
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
  std::string metadata;   // JSON of the object's metadata, without the parts that lists do not use
  text::Json selectable;  // the fields that selectors use
  std::string state;      // type of the last condition
  std::string status;     // in Arena's words
  base::Time created{};
  // How long a finished job took. An unfinished one has been running since `start`, if it has
  // started.
  std::optional<base::Duration> took;
  std::optional<base::Time> start;
  double requested_gpus = 0;
  double allocated_gpus = 0;
  std::string node;
  std::string stall_note;  // of a running one (api/stall.h)

  base::Duration DurationAt(base::Time now) const;
};

// The row of a job with these pods.
JobRow SummarizeJob(const text::Json& job, const std::vector<const text::Json*>& pods,
                    base::Time now);

// Thread safe.
class JobSummaries {
 public:
  explicit JobSummaries(base::Clock& clock) : clock_(clock) {}

  // Marks all stored jobs as stale. Call it before the first OnCommit.
  base::Status Start(store::Store& store);
  // Reads the stale rows; a list does the same.
  base::Status Refresh(store::Store& store);
  // Current and later reads end at once with kCancelled.
  void Stop() { is_stopped_ = true; }
  // Called on the store's writer thread, before a write is acknowledged.
  void OnCommit(std::span<const store::EventPtr> events, int64_t version);

  // Calls `visit` for the rows after (namespace, name), in order, until it returns false; only
  // those of one namespace, unless it is "". Returns a version: the rows are at least that recent.
  // `visit` must not read rows.
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
  std::mutex refresh_;  // held by the thread that refreshes; the next one finds fresh rows
  std::mutex mutex_;    // guards state_
  State state_;
};

}  // namespace local::server
