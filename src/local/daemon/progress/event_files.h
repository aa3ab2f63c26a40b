// Reads TensorBoard's event files of jobs that run, as they grow: below the folder of a `muster
// run`, which holds its code and its MUSTER_RUN_DIR.
#pragma once

#include <memory>
#include <string>

#include "local/daemon/progress/progress_files.h"

namespace local::daemon {

// What one look at a folder goes through, at most.
inline constexpr int kMostDepth = 6;
inline constexpr size_t kMostEntries = 5000;
inline constexpr size_t kMostEventFiles = 64;
inline constexpr size_t kMostEventBytes = 4 << 20;  // of a file

// A thread, which looks every five seconds while a job runs and sleeps otherwise. It is not waited
// for: a file system that is gone (a dead NFS server) may hold it for ever, and nobody else.
class EventFiles {
 public:
  // Borrows `files` until it is destroyed.
  explicit EventFiles(ProgressFiles& files);
  ~EventFiles();

  // From now on, or no more. Return at once.
  void Follow(const std::string& job_uid, const std::string& folder);
  void Leave(const std::string& job_uid);

 private:
  struct Shared;
  static void Run(const std::shared_ptr<Shared>& shared);

  const std::shared_ptr<Shared> shared_;
};

}  // namespace local::daemon
