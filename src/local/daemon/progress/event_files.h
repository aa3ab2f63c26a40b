// Reads the TensorBoard event files of running jobs as they grow: below the folder of a `muster
// run`, which contains its code and its MUSTER_RUN_DIR.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "local/daemon/progress/progress_files.h"

namespace local::daemon {

// The limits of one pass over a folder.
inline constexpr const char* kEventFilesSource = "event files";
inline constexpr int kMostDepth = 6;
inline constexpr size_t kMostEntries = 5000;
inline constexpr size_t kMostEventFiles = 64;
inline constexpr size_t kMostEventBytes = 4 << 20;  // of a file

// A thread that reads every five seconds while a job runs and sleeps otherwise. Nobody waits for
// it, because a dead file system (an NFS server that is gone) may block it for ever. Another thread
// then takes its place, and leaves that job alone until the first one comes back.
class EventFiles {
 public:
  // Borrows `files` until it is destroyed. `before_look`: for tests, on the thread.
  explicit EventFiles(ProgressFiles& files,
                      std::function<void(const std::string& folder)> before_look = {});
  ~EventFiles();

  // Replaces a thread that has been in one folder for too long. Call it now and then.
  void Check(std::chrono::steady_clock::duration patience = std::chrono::seconds(5));

  // Starts and stops reading for the job. Return at once. `since`: see EventFolder; if it is called
  // several times, as for each of the job's pods, the earliest counts.
  void Follow(const std::string& job_uid, const std::string& folder, runs::Millis since);
  void Leave(const std::string& job_uid);

 private:
  struct Shared;
  static void Start(const std::shared_ptr<Shared>& shared);
  static void Run(const std::shared_ptr<Shared>& shared, int own);
  struct Followed {
    std::string folder;
    runs::Millis since = 0;
  };
  static void LookAt(const std::shared_ptr<Shared>& shared, const std::string& job,
                     const Followed& followed);

  const std::shared_ptr<Shared> shared_;
};

}  // namespace local::daemon
