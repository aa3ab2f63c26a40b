// Meeting: how the nodes of a job find each other, by objects in the work dir
// (compat/opctl.md 3.4).
//
//   MAIN_config.json            {"MASTER_ADDR": "10.0.0.5"}    the main node's
//   WORKER_<run>_config.json    {"OCI__WORKER_IP": "10.0.0.6"} one of each worker
//   stop                        stop                           a node has ended
//   FAILED_<run>.json           {"RANK": "1", "EXIT_CODE": "3", ...}  ours: a node has failed
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>

#include "ads/config/entry_settings.h"
#include "ads/node/local_nodes.h"
#include "ads/storage/object_storage.h"
#include "base/clock.h"
#include "base/result.h"

namespace ads {

// Blocking; one thread.
class Meeting {
 public:
  // The storage is the job's folder of the work dir; `nodes`, of a job on this machine, tells of
  // the ones that were killed (null elsewhere).
  Meeting(const EntrySettings& settings, ObjectStorage& storage, base::Clock& clock,
          LocalNodes* nodes = nullptr);

  // Tells the others this node's address. The main node takes away what an earlier run of the same
  // job has left. The URI and Python's look of what it wrote, for the log.
  struct Written {
    std::string uri, shown;
  };
  base::Result<Written> Announce(const std::string& address);

  // What the main node announced, once it has: woken by the storage, or asking each second. A
  // config with a `stop` beside it that is older than this node is an earlier run's. kTimeout after
  // the settings' time; kCancelled, naming the node, when one has failed meanwhile.
  base::Result<std::map<std::string, std::string>> AwaitMain();
  std::string MainUri() const;

  // The failure of another node, if there is one.
  struct Failure {
    std::string rank;
    std::string exit_code;  // "" of one that was killed
    // "the node of rank 1 failed with exit code 3"
    std::string Describe() const;
  };
  base::Result<std::optional<Failure>> FindFailure();
  // For the others; what it says holds for this start of the main node alone.
  base::Status ReportFailure(int exit_code);

  // Whether `stop` was there already.
  base::Result<bool> Stop();

  // Readable when FindFailure may have found something new, until DrainChanges; -1 where that has
  // to be asked now and then.
  int ChangesFd();
  void DrainChanges() { storage_.DrainChanges(); }

 private:
  base::Result<std::optional<std::string>> FreshMainConfig();
  base::Status AwaitChange(std::chrono::steady_clock::time_point deadline);
  base::Status RemoveLeftovers();
  bool IsOfThisStart(const std::string& generation, base::Time at) const;

  const EntrySettings& settings_;
  ObjectStorage& storage_;
  base::Clock& clock_;
  LocalNodes* const nodes_;
  std::optional<int> changes_fd_;
  const base::Time started_;
  std::string generation_;  // when the main node announced itself; "" until that is known
};

}  // namespace ads
