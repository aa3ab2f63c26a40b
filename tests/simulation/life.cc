#include "life.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <bit>
#include <memory>
#include <vector>

#include "api/resources.h"
#include "base/file.h"
#include "base/folder.h"
#include "base/log.h"
#include "descriptors.h"
#include "heap.h"
#include "local/store/migration.h"
#include "local/store/sqlite.h"
#include "machine.h"
#include "users.h"
#include "watcher.h"

namespace simulation {
namespace {

// Everything is to be gone this long after the last deletion.
constexpr Nanos kLongestFarewell = 900 * kSecond;

// SQLite throws its dice anew in a process whose number is another than that of the last which
// opened a file: that of the life before. From here on it is the driver's.
void ForgetProcess(const std::string& path) {
  sqlite3_vfs* const files = sqlite3_vfs_find(nullptr);
  std::vector<char> memory(static_cast<size_t>(files->szOsFile));
  auto* const file = reinterpret_cast<sqlite3_file*>(memory.data());
  constexpr int kFlags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_EXCLUSIVE |
                         SQLITE_OPEN_TEMP_JOURNAL | SQLITE_OPEN_DELETEONCLOSE;
  if (files->xOpen(files, path.c_str(), file, kFlags, nullptr) != SQLITE_OK) {
    GoneWrong("SQLite opens no file");
  }
  file->pMethods->xClose(file);
  sqlite3_randomness(0, nullptr);
}

// One of so many machines has never had a daemon.
constexpr uint64_t kNewMachines = 8;

// A store as it is made, whose making takes longer than all that a short life does with it.
std::string EmptyStore() {
  BeginLife(0, false);
  std::string content;
  {
    Disk disk(false);
    constexpr const char* kPath = "/disk/cluster.db";
    {
      auto database = local::store::Database::Open(kPath);
      if (!database || !local::store::Migrate(*database)) GoneWrong("no store is made");
    }
    content = disk.tree().Find(kPath)->content;
  }
  EndLife();
  return content;
}

// Mostly short: what two or three faults one after another do is seen in many lives sooner than in
// one that is long, and with fewer of them it is seen later.
Nanos Length() {
  const uint64_t kind = Below(32);
  const uint64_t most = kind == 0 ? 8'000 : kind < 5 ? 4'000 : 1'500;
  return static_cast<Nanos>(200 + Below(most)) * kMilli;
}

class Life {
 public:
  explicit Life(const std::string& empty_store)
      : may_lose_power_(Below(3) == 0),
        machine_(may_lose_power_, Below(kNewMachines) == 0 ? "" : empty_store) {
    base::SetLogLevel(base::LogLevel::kFatal);
    ForgetProcess("/disk/first");
  }

  void Run() {
    const uint64_t count = Below(8) == 0 ? 2 : 1;
    for (uint64_t i = 0; i < count; ++i) {
      users_.push_back(std::make_unique<User>(machine_, static_cast<int>(i)));
    }
    jobs_ = std::make_unique<Watcher>(machine_, api::kPyTorchJobs);
    pods_ = std::make_unique<Watcher>(machine_, api::kPods);
    const Nanos end = Now() + Length();
    int working = 0;
    Process commands{"commands"};
    for (const auto& user : users_) {
      ++working;
      Spawn(commands, "user", [&working, &user, end] {
        user->Work(end);
        --working;
      });
    }
    while (working > 0) {
      SleepFor(static_cast<Nanos>(Below(900)) * kMilli);
      if (Now() < end) Hurt();
    }
    Calm();
    for (const auto& user : users_) user->SeeToTheEnd();
    jobs_->CheckAgainstList();
    pods_->CheckAgainstList();
    for (const auto& user : users_) user->DeleteAll();
    CheckNothingIsLeft();
    jobs_->CheckAgainstList();
    pods_->CheckAgainstList();
    jobs_.reset();
    pods_.reset();
    users_.clear();
    machine_.StopDaemon();
    machine_.shims().AwaitEnds();
    CheckFiles();
  }

 private:
  void Hurt() {
    Faults& faults = machine_.faults();
    const auto die_soon = [this] {
      Daemon* const daemon = machine_.daemon();
      if (daemon != nullptr) daemon->process.kill_after = static_cast<int64_t>(Below(400));
    };
    switch (Below(13)) {
      case 0:
      case 1:
      case 2:
        return die_soon();
      case 3:
        // Dies, and the next one does while it starts.
        faults.kill_daemon_after = static_cast<int64_t>(Below(1500));
        return machine_.KillDaemon();
      case 4:
        return machine_.StopDaemon();
      case 5:
        (void)machine_.shims().KillOne();
        return;
      case 6:
        if (may_lose_power_) machine_.PowerCut();
        return;
      case 7:
        machine_.GetIntoTrouble();
        faults.lost_answers = static_cast<unsigned>(Below(200));
        faults.cut_watches = static_cast<unsigned>(Below(100));
        faults.late_watches = static_cast<unsigned>(Below(400));
        return;
      case 8:
        faults.failed_spawns = static_cast<unsigned>(Below(500));
        faults.killed_shims = static_cast<unsigned>(Below(60));
        return;
      case 9:
        machine_.host_name = fmt::format("host{}", Below(3));
        if (Below(2) == 0) machine_.LogInAgain();
        return machine_.KillDaemon();
      case 10:
        machine_.GetIntoTrouble();
        machine_.disk().SetFailing(static_cast<unsigned>(Below(40)));
        SleepFor(static_cast<Nanos>(Below(1'500)) * kMilli);
        return machine_.disk().SetFailing(0);
      case 11:
        machine_.GetIntoTrouble();
        machine_.disk().Fill(static_cast<int64_t>(Below(100'000)));
        SleepFor(static_cast<Nanos>(Below(1'500)) * kMilli);
        return machine_.disk().Empty();
      default:
        ShiftWallClock(static_cast<Nanos>(Below(20)) * kSecond - 10 * kSecond);
        return;
    }
  }

  void Calm() {
    Trace("nothing goes wrong any more");
    machine_.faults() = {};
    machine_.disk().SetFailing(0);
    machine_.disk().Empty();
    if (Daemon* const daemon = machine_.daemon(); daemon != nullptr) {
      daemon->process.kill_after = -1;
    }
  }

  void CheckNothingIsLeft() {
    cluster::Client client(CommandTransport(machine_));
    const Nanos deadline = Now() + kLongestFarewell;
    while (true) {
      const bool is_late = Now() > deadline;
      std::string left = machine_.shims().Describe() + KeptPorts();
      for (const char* const folder : {"pods", "jobs"}) {
        for (const std::string& name : base::EntriesOf(machine_.state() + "/" + folder)) {
          left += fmt::format("  {}/{}\n", folder, name);
        }
      }
      // The daemon is asked last, which takes longest.
      if (left.empty() || is_late) left += Listed(client);
      if (left.empty()) return;
      if (is_late) GoneWrong("all is deleted, and this is left:\n" + left);
      SleepFor(kSecond);
    }
  }

  static std::string Listed(cluster::Client& client) {
    std::string listed;
    for (const api::Resource* const resource :
         {&api::kPyTorchJobs, &api::kPods, &api::kServices, &api::kConfigMaps}) {
      const auto list = client.List(*resource, {});
      if (!list) GoneWrong("list: " + list.error().message);
      for (const text::Json& item : list->items) listed += text::ToJson(item) + "\n";
    }
    return listed;
  }

  std::string KeptPorts() {
    const Daemon* const daemon = machine_.daemon();
    std::string kept;
    if (daemon == nullptr || daemon->ports == nullptr) return kept;
    for (const std::string& uid : jobs_->Uids()) {
      if (const auto port = daemon->ports->Find(uid)) {
        kept += fmt::format("  port {} of job {}\n", *port, uid);
      }
    }
    return kept;
  }

  // Nothing of the store's is put aside: it has forgotten nothing.
  void CheckFiles() {
    for (const std::string& name : base::EntriesOf(machine_.state() + "/lost+found")) {
      GoneWrong("lost+found has " + name);
    }
  }

  const bool may_lose_power_;
  Machine machine_;
  std::vector<std::unique_ptr<User>> users_;
  std::unique_ptr<Watcher> jobs_;
  std::unique_ptr<Watcher> pods_;
};

}  // namespace

uint64_t LiveOnce(const LifeOptions& options) {
  static uint64_t lives = 0;
  static const std::string empty_store = EmptyStore();
  // Fewer and fewer lives are the first to do something of which a block stays.
  if (std::has_single_bit(++lives)) KeepHeap();
  BeginLife(options.seed, options.is_traced);
  {
    Life life(empty_store);
    life.Run();
  }
  if (const size_t open = OpenDescriptors(); open != 0) {
    GoneWrong(fmt::format("{} descriptors are left open", open));
  }
  EndLife();
  if (options.settles_heap) SettleHeap();
  return TraceHash();
}

}  // namespace simulation
