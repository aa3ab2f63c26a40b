// Records how long the ranks of jobs, and their launchers, have waited for each other, as their
// pods report it (witness/meetings.h).
#pragma once

#include <map>
#include <mutex>
#include <string>

#include "local/daemon/progress/progress_files.h"
#include "witness/meetings.h"

namespace local::daemon {

// Thread safe. Borrows the progress.
class MeetingFiles {
 public:
  explicit MeetingFiles(ProgressFiles& progress) : progress_(progress) {}

  // Records what is new in the folder of a pod of the job (witness::FolderOfPod).
  void See(const std::string& job_uid, const std::string& folder);
  // The last read: the pod has ended.
  void SeeLast(const std::string& job_uid, const std::string& folder);

 private:
  ProgressFiles& progress_;
  std::mutex mutex_;
  std::map<std::string, witness::MeetingsFile> files_;  // by folder; under the mutex
};

}  // namespace local::daemon
