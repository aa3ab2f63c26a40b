// The files of one run: <log-dir>/<id>_<8 random>/attempt_<n>/<local rank>/
// (compat/torchrun.md 2.4).
#pragma once

#include <string>

#include "base/environment.h"
#include "base/fd.h"
#include "base/result.h"
#include "launch/flags/options.h"

namespace launch {

struct WorkerFiles {
  std::string error_file;   // always
  std::string stdout_file;  // "" if that stream has no file
  std::string stderr_file;
};

// Opens a log of a worker, or /dev/null, to append to it.
base::Result<base::Fd> OpenLog(const std::string& path);

// Names a folder in which a launcher makes its own, unless the user names one. It is set in pods,
// whose logs are kept: what is tee'd has no file there. The folder is deleted with the pod.
inline constexpr const char* kLogDirVariable = "MUSTER_LOG_DIR";

// One per launcher. Finish removes a folder that the user did not ask for, unless it contains
// something worth reading.
class LogFolder {
 public:
  static base::Result<LogFolder> Create(const Options& options,
                                        const base::Environment& environment);

  // Makes an attempt's folder, and in it the files for filtered lines that `options` ask for.
  base::Status MakeAttempt(const Options& options, int attempt) const;
  // Makes one worker's folders; empties them if the attempt is repeated.
  base::Result<WorkerFiles> MakeWorker(const Options& options, int attempt, int local_rank) const;
  // For the filtered lines of stream `fd`, 1 or 2.
  std::string FilterFile(int attempt, int fd) const;
  const std::string& run_path() const { return run_path_; }
  // With --log-dir /dev/null there are only error files.
  bool has_logs() const { return has_logs_; }
  // Whether files keep what workers print.
  bool KeepsOutput(const Options& options) const;
  void Finish(bool is_worth_keeping) const;

 private:
  std::string AttemptPath(int attempt) const;

  std::string root_;  // our temporary folder; "" if the user named one
  std::string run_path_;
  bool has_logs_ = true;
  bool is_output_kept_elsewhere_ = false;
};

}  // namespace launch
