// The runs on which forecasts are based, each read once: the record of a run in the store never
// changes, and an existing job is read again when its resourceVersion differs. Not thread safe.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cluster/client.h"
#include "local/scheduler/past_runs.h"
#include "local/store/store.h"

namespace local::daemon {

// How many of the newest kept runs count.
inline constexpr int64_t kMostKeptRuns = 500;

class KnownRuns {
 public:
  // Borrows both.
  KnownRuns(cluster::Client& client, store::Store& store) : client_(client), store_(store) {}

  // Reads what has changed; blocks. After an error, what was known before stays.
  base::Status Refresh();

  // In the order of their ends. Valid until the next Refresh.
  const std::vector<scheduler::PastRun>& past() const { return past_; }
  // For all existing jobs, by "namespace/name".
  const std::map<std::string, std::string>& commands() const { return commands_; }
  // How many texts of jobs have been parsed so far.
  int64_t parsed() const { return parsed_; }

 private:
  struct Job {
    std::string version;
    std::string key;
    std::string command;
    std::optional<scheduler::PastRun> run;  // nullopt for an unfinished one
  };
  using Jobs = std::map<std::string, Job>;  // by uid
  using Runs = std::map<std::string, std::optional<scheduler::PastRun>>;

  base::Result<Job> ReadJob(std::string_view text, std::string version);
  base::Result<Jobs> ListJobs(bool& is_changed);
  base::Result<Runs> ListKept(bool& is_changed);
  void Collect();

  cluster::Client& client_;
  store::Store& store_;
  Jobs jobs_;
  Runs kept_;
  std::vector<scheduler::PastRun> past_;
  std::map<std::string, std::string> commands_;
  int64_t parsed_ = 0;
};

}  // namespace local::daemon
