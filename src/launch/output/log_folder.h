// The files of one run: <log-dir>/<id>_<8 random>/attempt_<n>/<local rank>/
// (compat/torchrun.md 2.4).
#pragma once

#include <string>

#include "base/environment.h"
#include "base/result.h"
#include "launch/flags/options.h"

namespace launch {

struct WorkerFiles {
  std::string error_file;   // always
  std::string stdout_file;  // "" when that stream has no file
  std::string stderr_file;
};

// Made once per launcher. A folder that nobody asked for is removed by Finish unless it holds
// something worth reading; what the user named is never removed.
class LogFolder {
 public:
  static base::Result<LogFolder> Create(const Options& options,
                                        const base::Environment& environment);

  // Makes the folders of one worker; those of an attempt that is repeated are emptied.
  base::Result<WorkerFiles> MakeWorker(const Options& options, int attempt, int local_rank) const;
  // Of an attempt: where filtered_stdout.log and filtered_stderr.log stand.
  std::string AttemptPath(int attempt) const;
  const std::string& run_path() const { return run_path_; }
  // With --log-dir /dev/null there are only error files.
  bool has_logs() const { return has_logs_; }
  void Finish(bool is_worth_keeping) const;

 private:
  std::string root_;  // a temporary folder that is ours; "" when the user named one
  std::string run_path_;
  bool has_logs_ = true;
};

}  // namespace launch
