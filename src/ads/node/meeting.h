// Meeting: how the nodes of a job find each other, by objects in the work dir
// (compat/opctl.md 3.4).
//
//   MAIN_config.json            {"MASTER_ADDR": "10.0.0.5"}    written by the main node
//   WORKER_<run>_config.json    {"OCI__WORKER_IP": "10.0.0.6"} written by each worker
//   stop                        stop                           a node has ended
//   FAILED_<run>.json           {"RANK": "1", ...}             muster's own: a node has failed
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
  // `storage` is the job's folder in the work dir; `nodes`, for a job on this machine, reports
  // killed nodes (otherwise null).
  Meeting(const EntrySettings& settings, ObjectStorage& storage, base::Clock& clock,
          LocalNodes* nodes = nullptr);

  // Writes this node's address for the others. The main node first removes what an earlier run of
  // the same job has left. Returns the URI and, for the log, the text in Python's form.
  struct Written {
    std::string uri, shown;
  };
  base::Result<Written> Announce(const std::string& address);

  // Waits for the main node's announcement: woken by the storage, or polling each second. A config
  // with a `stop` beside it that is older than this node belongs to an earlier run. kTimeout after
  // the time in the settings; kCancelled, naming the node, when a node has failed meanwhile.
  base::Result<std::map<std::string, std::string>> AwaitMain();
  std::string MainUri() const;

  // The failure of another node; nullopt when there is none.
  struct Failure {
    std::string rank;
    std::string exit_code;  // "": it was killed
    // "the node of rank 1 failed with exit code 3"
    std::string Describe() const;
  };
  base::Result<std::optional<Failure>> FindFailure();
  // For the other nodes; valid only for this start of the main node.
  base::Status ReportFailure(int exit_code);

  // Returns whether `stop` existed already.
  base::Result<bool> Stop();

  // Readable when FindFailure may have a new result, until DrainChanges; -1 when it has to be
  // polled.
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
  std::string generation_;  // the time of the main node's announcement; "" until it is known
};

}  // namespace ads
