// What the daemon does once an hour: a backup of the store, finished jobs and remembered runs that
// are no longer kept, space given back.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
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

namespace local::daemon {

class Upkeep {
 public:
  struct Options {
    Paths paths;
    Keep keep;
    std::string executable;  // whose `delete` removes jobs with all that belongs to them
    base::Environment environment;
    // The store was not closed and is too large to be looked through before the first command.
    bool is_to_be_checked = false;
    // Removes what is kept of the progress of runs, but of those that `remembered` holds or that
    // are there.
    std::function<void(const std::set<std::string>& remembered)> forget_progress;
    std::chrono::seconds first{10};  // after the start
    std::chrono::seconds interval{3600};
  };
  // Starts its thread. All but the options is borrowed.
  Upkeep(cluster::Client& client, node::LostAndFound& lost, base::Clock& clock, Options options);
  // Makes a last backup, where that takes but a moment.
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

// How the store is to be looked through, which takes half a second for 250 MB: not where it was
// closed, else at once, or in the background.
enum class StoreCheck { kNone, kAtOnce, kLater };
StoreCheck StoreCheckOf(const Paths& paths);

// Looks through the store. A damaged one is copied to lost+found, and the error says so and what to
// do.
base::Status CheckStore(const Paths& paths, node::LostAndFound& lost, base::Clock& clock);

// Keeps the last backup of now for RestoreStore, whatever backup a daemon makes until then. Fine
// where there is none.
base::Status ChooseBackup(const Paths& paths);

// Puts the backup that was chosen, else the last one, in the place of the store, which goes to
// lost+found. Where the old store is now; "" where there was none. kNotFound without a backup,
// kUnavailable while a daemon runs; none can be started meanwhile.
base::Result<std::string> RestoreStore(const Paths& paths, base::Clock& clock);

}  // namespace local::daemon
