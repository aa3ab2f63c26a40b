// ArtifactSync: copies what a node writes to its sync folder to a storage, while the node runs.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "ads/node/sync_plan.h"
#include "ads/storage/folder_watch.h"
#include "ads/storage/object_storage.h"
#include "base/clock.h"
#include "base/fd.h"
#include "cli/terminal.h"

namespace ads {

// A thread of its own gets the changes (FolderWatch) and copies files as SyncPlan says; a folder
// that cannot be watched is scanned at each interval. Finish copies the rest completely. Errors are
// reported on `err` and retried. Deleted files stay in the storage.
class ArtifactSync {
 public:
  ArtifactSync(std::string folder, std::unique_ptr<ObjectStorage> storage, SyncRhythm rhythm,
               base::Clock& clock, cli::Output& err);
  ArtifactSync(const ArtifactSync&) = delete;
  ArtifactSync& operator=(const ArtifactSync&) = delete;
  ~ArtifactSync();

  base::Status Start();
  // The first error after trying all files: of a file, or of a folder that cannot be scanned.
  base::Status Finish();

 private:
  struct Version {
    int64_t size = 0;
    int64_t modified = 0;  // nanoseconds
    bool operator==(const Version&) const = default;
  };
  struct Changed {
    std::string name;
    Version version;
  };

  void Run();
  void Stop();
  void OpenWatch();
  void TakeChanges();
  // True when it has to stop; otherwise something may have changed, or is due.
  bool AwaitWork();
  // Files that differ from their copies, and why there may be more.
  struct Found {
    std::vector<Changed> files;
    base::Status status;
  };
  Found Scan() const;
  void ScanFolder(const std::string& folder, std::vector<std::string>& below, Found& found) const;
  void PlanAll();
  base::Status Copy(const std::vector<std::string>& names);
  base::Status CopyChanged(const std::vector<Changed>& files);
  void Report(const std::string& what);

  const std::string folder_;
  const std::unique_ptr<ObjectStorage> storage_;
  const SyncRhythm rhythm_;
  base::Clock& clock_;
  cli::Output& err_;
  // Used by the thread until it is joined.
  SyncPlan plan_;
  std::map<std::string, Version> copied_;
  std::unique_ptr<FolderWatch> watch_;
  bool has_reported_ = false;   // reported that the folder cannot be watched
  std::string reported_error_;  // of the last scan
  base::Fd stop_;
  std::thread thread_;
};

}  // namespace ads
