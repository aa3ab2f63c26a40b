// The daemon's hourly work: a backup of the store, the removal of expired finished jobs and
// remembered runs, and returning free space to the disk.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/environment.h"
#include "cluster/client.h"
#include "local/client/config.h"
#include "local/client/connect.h"
#include "local/daemon/retention.h"
#include "local/node/agent/lost_and_found.h"
#include "process/spawn.h"

namespace local::store {
class Database;
}

namespace local::daemon {

class Upkeep {
 public:
  struct Options {
    Paths paths;
    Keep keep;
    std::string executable;  // its `delete` removes jobs with all that belongs to them
    base::Environment environment;
    // The store was not closed and is too large to be checked before the first command.
    bool is_to_be_checked = false;
    // Removes the progress of all runs except those in `remembered` and of existing jobs.
    std::function<void(const std::set<std::string>& remembered)> forget_progress;
    std::chrono::seconds first{10};  // delay after the start
    std::chrono::seconds interval{3600};
  };
  // Starts its thread. Everything but the options is borrowed.
  Upkeep(cluster::Client& client, node::LostAndFound& lost, base::Clock& clock, Options options);
  // Makes a last backup if that is quick.
  ~Upkeep();

 private:
  void Run();
  void BackUpStore();
  void RemoveOldJobs();
  void Remove(const std::vector<FinishedJob>& jobs);
  void PruneRuns();
  void RemoveStrayRecords();
  void RunToItsEnd(process::SpawnOptions options);
  void ForgetWhatIsGone();

  cluster::Client& client_;
  node::LostAndFound& lost_;
  base::Clock& clock_;
  const Options options_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool is_stopped_ = false;
  pid_t deleting_ = 0;  // the program that removes jobs, while it runs
  std::thread thread_;
};

// When to check the store, which takes half a second for 250 MB: never if it was closed, otherwise
// at once or in the background.
enum class StoreCheck { kNone, kAtOnce, kLater };
StoreCheck StoreCheckOf(const Paths& paths);

// Checks the store. Returns the connection that has read a sound one. Copies a damaged one to
// lost+found; the error says so, and what to do.
base::Result<std::optional<store::Database>> CheckStore(const Paths& paths,
                                                        node::LostAndFound& lost,
                                                        base::Clock& clock);

// Keeps the present backup for RestoreStore, even if a daemon makes another one before. OK when
// there is none.
base::Status ChooseBackup(const Paths& paths);

// Replaces the store by the chosen backup, otherwise by the last one, and moves the old store to
// lost+found. Returns the old store's new path; "" when there was none. kNotFound without a backup,
// kUnavailable while a daemon runs; no daemon can start meanwhile.
base::Result<std::string> RestoreStore(const Paths& paths, base::Clock& clock);

}  // namespace local::daemon
