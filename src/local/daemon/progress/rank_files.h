// What the ranks of runs used, on disk: <state>/ranks/<uid of the job>, with the lines of
// runs/progress/rank_history.h. As with ProgressFiles, a full disk or a killed daemon loses some of
// it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "runs/progress/rank_history.h"
#include "text/json.h"

namespace local::daemon {

// Thread safe.
class RankFiles {
 public:
  explicit RankFiles(const std::string& state_directory);
  ~RankFiles();  // writes the rest

  // Whether it is time to sample a job with that many ranks, `now` in seconds since the epoch. True
  // once in runs::SecondsBetweenLooks.
  bool IsDue(const std::string& job_uid, size_t ranks, int64_t now);
  // Samples of one time. Kept in memory until there are some kilobytes of them.
  void Note(const std::string& job_uid, const std::vector<runs::RankSample>& samples);
  // Writes and drops what is in memory for other jobs.
  void KeepOpen(const std::set<std::string>& jobs);
  // Removes the files of runs for which `is_known` is false; for hourly upkeep.
  void ForgetUnless(const std::function<bool(const std::string& job_uid)>& is_known);

  // The jobs whose samples were noted since the last call, with what their ranks used then.
  std::map<std::string, runs::MeanUse> TakeLooked();

  // {"uid", "from", "step", "ranks"}: runs::RankGrid.
  text::Json Of(const std::string& job_uid, int64_t columns);

 private:
  struct Job {
    std::string pending;  // lines that are not in the file yet
    size_t appended = 0;  // bytes, since old samples were thinned out
    int64_t looked = 0;
    int64_t hour = 0;
    size_t bytes_of_hour = 0;
  };

  std::string PathOf(const std::string& job_uid) const;
  void Write(const std::string& job_uid, Job& job);

  const std::string folder_;
  std::mutex mutex_;
  std::map<std::string, Job> open_;              // by uid; under the mutex
  std::map<std::string, runs::MeanUse> looked_;  // the same
};

}  // namespace local::daemon
