// ArtifactSync: what a node writes to its sync folder, copied to a storage as long as it runs.
#pragma once

#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "ads/object_storage.h"
#include "base/clock.h"
#include "cli/terminal.h"

namespace ads {

// A thread of its own copies what is new or changed, one round each interval; a file that was
// written to a moment ago waits for the next round, so that no half of one is copied. Finish copies
// the rest, whole, and may be called once. Errors are told on `err`, and tried again.
class ArtifactSync {
 public:
  ArtifactSync(std::string folder, std::unique_ptr<ObjectStorage> storage,
               std::chrono::seconds interval, base::Clock& clock, cli::Output& err);
  ArtifactSync(const ArtifactSync&) = delete;
  ArtifactSync& operator=(const ArtifactSync&) = delete;
  ~ArtifactSync();

  void Start();
  base::Status Finish();

  // One round: with `all` the files of this moment too. The first error, after all the others were
  // tried.
  base::Status Round(bool all);

 private:
  struct Version {
    int64_t size = 0;
    int64_t modified = 0;  // nanoseconds
    bool operator==(const Version&) const = default;
  };

  const std::string folder_;
  const std::unique_ptr<ObjectStorage> storage_;
  const std::chrono::seconds interval_;
  base::Clock& clock_;
  cli::Output& err_;
  std::map<std::string, Version> copied_;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::jthread thread_;
};

}  // namespace ads
