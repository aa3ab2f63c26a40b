#include "local/daemon/upkeep.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <map>
#include <set>

#include "api/job/pytorch_job.h"
#include "api/names.h"
#include "api/object.h"
#include "api/resources.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/folder.h"
#include "base/log.h"
#include "base/machine/disk.h"
#include "local/node/logs/record.h"
#include "local/node/plan/pod.h"
#include "local/store/upkeep.h"
#include "process/file_lock.h"
#include "process/spawn.h"
#include "text/projection.h"

namespace local::daemon {
namespace {

constexpr size_t kNamesAtOnce = 100;
constexpr const char* kChosenSuffix = ".chosen";
constexpr int64_t kMaxCheckedAtOnce = 64 << 20;
constexpr int64_t kMaxLastBackup = 256 << 20;

int64_t SizeOf(const std::string& path) {
  struct stat info{};
  return ::stat(path.c_str(), &info) == 0 ? info.st_size : 0;
}

base::Result<std::vector<FinishedJob>> FinishedJobs(cluster::Client& client) {
  std::vector<FinishedJob> jobs;
  cluster::ListOptions options;
  options.read = [&jobs](std::string_view text) -> base::Result<text::Json> {
    static const text::Projection kParts{{"metadata", "namespace"},
                                         {"metadata", "name"},
                                         {"metadata", "uid"},
                                         {"metadata", "deletionTimestamp"},
                                         {"status"}};
    TRY_ASSIGN(const text::Json job, text::ParsePart(text, kParts));
    const text::Json* const stored = text::Find(job, {"status"});
    if (stored == nullptr || api::IsDeleting(job)) return text::Json(nullptr);
    TRY_ASSIGN(const api::JobStatus status, api::ParseJobStatus(*stored));
    for (const char* type : {"Succeeded", "Failed"}) {
      if (!status.Is(type) || !status.Find(type)->last_transition_time) continue;
      jobs.push_back({std::string(api::Namespace(job)), std::string(api::Name(job)),
                      std::string(api::Uid(job)), *status.Find(type)->last_transition_time, 0});
      break;
    }
    return text::Json(nullptr);
  };
  TRY(client.List(api::kPyTorchJobs, options));
  return jobs;
}

base::Result<std::map<std::string, std::vector<std::string>>> PodsByJob(cluster::Client& client) {
  std::map<std::string, std::vector<std::string>> pods;
  cluster::ListOptions options;
  options.read = [&pods](std::string_view text) -> base::Result<text::Json> {
    static const text::Projection kParts{
        {"metadata", "uid"}, {"metadata", "ownerReferences"}, {"metadata", "annotations"}};
    TRY_ASSIGN(const text::Json pod, text::ParsePart(text, kParts));
    pods[node::JobUidOf(pod)].emplace_back(api::Uid(pod));
    return text::Json(nullptr);
  };
  TRY(client.List(api::kPods, options));
  return pods;
}

std::string BackupTime(const Paths& paths) {
  struct stat info{};
  if (::stat(paths.backup.c_str(), &info) != 0) return "";
  return base::FormatRfc3339(base::Time(std::chrono::seconds(info.st_mtime)));
}

// A folder in lost+found for the present files of the store.
base::Result<std::string> MakeFolder(const node::LostAndFound& lost, base::Clock& clock) {
  std::string name = "store-" + base::FormatRfc3339(clock.Now());
  const std::string folder = lost.directory() + "/" + name;
  TRY(base::MakeDirs(folder, 0700));
  return folder;
}

constexpr const char* kStoreSuffixes[] = {"", "-wal", "-shm"};

base::Status CopyFile(const std::string& from, const std::string& to) {
  std::error_code failure;
  std::filesystem::copy_file(from, to, std::filesystem::copy_options::overwrite_existing, failure);
  if (!failure || failure == std::errc::no_such_file_or_directory) return {};
  return base::Fail(base::Errno(failure.value(), fmt::format("copy \"{}\"", from)));
}

}  // namespace

Upkeep::Upkeep(cluster::Client& client, node::LostAndFound& lost, base::Clock& clock,
               Options options)
    : client_(client), lost_(lost), clock_(clock), options_(std::move(options)), thread_([this] {
        Run();
      }) {}

Upkeep::~Upkeep() {
  {
    const std::lock_guard lock(mutex_);
    is_stopped_ = true;
    // It would wait for a daemon that no longer listens.
    if (deleting_ != 0) ::kill(deleting_, SIGTERM);
    wake_.notify_one();
  }
  thread_.join();
  if (SizeOf(options_.paths.database) <= kMaxLastBackup) BackUpStore();
}

void Upkeep::Run() {
  if (options_.is_to_be_checked) {
    if (const auto checked = CheckStore(options_.paths, lost_, clock_); !checked) {
      base::LogError("{}", checked.error().message);
      lost_.Report(checked.error().message);
    }
  }
  std::chrono::seconds wait = options_.first;
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, wait, [this] { return is_stopped_; })) {
    lock.unlock();
    // Before jobs are removed, so that the backup contains what is removed by mistake.
    BackUpStore();
    RemoveOldJobs();
    PruneRuns();
    ForgetWhatIsGone();
    RemoveStrayRecords();
    if (const auto given = store::GiveBackSpace(options_.paths.database); !given) {
      base::LogWarn("give space back: {}", given.error().message);
    } else if (*given != 0) {
      base::LogInfo("{} bytes of the store were given back to the disk", *given);
    }
    wait = options_.interval;
    lock.lock();
  }
}

void Upkeep::BackUpStore() {
  const auto made = store::BackUp(options_.paths.database, options_.paths.backup);
  if (!made) base::LogWarn("backup of the store: {}", made.error().message);
}

void Upkeep::RemoveOldJobs() {
  auto jobs = FinishedJobs(client_);
  if (!jobs) return base::LogWarn("list finished jobs: {}", jobs.error().message);
  if (jobs->empty()) return;
  if (options_.keep.bytes != 0) {
    const auto pods = PodsByJob(client_);
    if (!pods) return base::LogWarn("list pods: {}", pods.error().message);
    const std::string& state = options_.paths.state;
    for (FinishedJob& job : *jobs) {
      job.bytes = base::DiskUse(state + "/jobs/" + job.uid);
      const auto own = pods->find(job.uid);
      if (own == pods->end()) continue;
      for (const std::string& pod : own->second) job.bytes += base::DiskUse(state + "/pods/" + pod);
    }
  }
  Remove(JobsToRemove(std::move(*jobs), options_.keep, clock_.Now()));
}

// With the program's own `delete`, which knows all that belongs to a job.
void Upkeep::Remove(const std::vector<FinishedJob>& jobs) {
  for (size_t first = 0; first < jobs.size();) {
    const std::string& in = jobs[first].namespace_name;
    process::SpawnOptions options;
    options.path = options_.executable;
    options.argv = {"muster", "delete", "--local", "--namespace=" + in};
    size_t last = first;
    for (; last < jobs.size() && jobs[last].namespace_name == in && last - first < kNamesAtOnce;
         ++last) {
      options.argv.push_back(jobs[last].name);
    }
    base::LogInfo("{} finished jobs of namespace {} are no longer kept (local.keep_*): {}{}",
                  last - first, in, jobs[first].name, last - first == 1 ? "" : ", ...");
    first = last;
    RunToItsEnd(std::move(options));
  }
}

// With the program's own `prune`, which knows all that a run leaves.
void Upkeep::PruneRuns() {
  const std::string& state = options_.paths.state;
  const Keep& keep = options_.keep;
  process::SpawnOptions options;
  options.path = options_.executable;
  options.argv = {"muster", "prune", "--local", "--all-namespaces", "--gone"};
  const size_t least = options.argv.size();
  const auto oldest = store::OldestKept(options_.paths.database);
  const base::Time limit = clock_.Now() - std::chrono::days(keep.days);
  if (keep.days != 0 && oldest && *oldest != 0 && base::Time(base::Duration(*oldest)) < limit) {
    options.argv.push_back(fmt::format("--since={}h", keep.days * 24));
  }
  if (keep.bytes != 0 &&
      base::DiskUse(state + "/records") + base::DiskUse(state + "/runs") > keep.bytes) {
    options.argv.push_back(fmt::format("--size={}", keep.bytes));
  }
  if (options.argv.size() == least) return;
  RunToItsEnd(std::move(options));
}

// Records of pods that the store does not remember: of a Deployment, or of a forgotten run.
void Upkeep::RemoveStrayRecords() {
  const auto kept = store::KeptUids(options_.paths.database);
  if (!kept) return base::LogWarn("list remembered runs: {}", kept.error().message);
  if (options_.forget_progress) options_.forget_progress(*kept);
  const std::string& state = options_.paths.state;
  std::set<std::string> packages;
  for (const char* kind : {"/records/", "/pods/"}) {
    for (const std::string& uid : base::EntriesOf(state + kind)) {
      const std::string folder = state + kind + uid;
      if (kind == std::string_view("/records/") && !kept->contains(uid)) {
        if (const auto removed = base::RemoveTree(folder); !removed) {
          base::LogWarn("{}", removed.error().message);
        }
        continue;
      }
      const auto note = base::ReadFile(folder + "/" + std::string(node::kPythonFile));
      const auto json = note ? text::ParseJson(*note) : base::Fail(note.error());
      if (json) packages.insert(std::string(text::GetString(*json, {"packages"})));
    }
  }
  for (const std::string& hash : base::EntriesOf(state + "/packages")) {
    if (!packages.contains(hash)) ::unlink((state + "/packages/" + hash).c_str());
  }
}

void Upkeep::RunToItsEnd(process::SpawnOptions options) {
  options.env = options_.environment.AsList();
  options.dies_with_parent = true;
  std::unique_lock lock(mutex_);
  if (is_stopped_) return;
  const auto pid = process::SpawnQuietly(std::move(options));
  if (!pid) return base::LogWarn("remove finished jobs: {}", pid.error().message);
  deleting_ = *pid;
  lock.unlock();
  // Its pid is not reused until it is reaped.
  siginfo_t ended{};
  while (::waitid(P_PID, static_cast<id_t>(*pid), &ended, WEXITED | WNOWAIT) < 0 &&
         errno == EINTR) {
  }
  lock.lock();
  deleting_ = 0;
  while (::waitpid(*pid, nullptr, 0) < 0 && errno == EINTR) {
  }
}

void Upkeep::ForgetWhatIsGone() {
  std::set<std::string, std::less<>> there;
  for (const char* kind : {"/pods", "/jobs"}) {
    for (std::string& uid : base::EntriesOf(options_.paths.state + kind)) {
      there.insert(std::move(uid));
    }
  }
  const auto forgotten = store::ForgetDeleted(
      options_.paths.database, [&there](std::string_view uid) { return there.contains(uid); });
  if (!forgotten) base::LogWarn("remove records of deleted objects: {}", forgotten.error().message);
}

StoreCheck StoreCheckOf(const Paths& paths) {
  if (!store::WasLeftOpen(paths.database)) return StoreCheck::kNone;
  return SizeOf(paths.database) <= kMaxCheckedAtOnce ? StoreCheck::kAtOnce : StoreCheck::kLater;
}

base::Result<std::optional<store::Database>> CheckStore(const Paths& paths,
                                                        node::LostAndFound& lost,
                                                        base::Clock& clock) {
  const std::string mark = paths.database + ".damaged";
  auto checked = store::Check(paths.database);
  if (checked) ::unlink(mark.c_str());
  // If the disk is too full for the check, nothing is known about the store; the reserve is for
  // opening it.
  if (!checked && checked.error().code == base::Code::kExhausted) return std::nullopt;
  if (checked || checked.error().code != base::Code::kInternal) return checked;
  // Copied once, because the daemon is started again and again.
  auto copy = base::ReadFile(mark, 4096);
  if (!copy) {
    TRY_ASSIGN(const std::string folder, MakeFolder(lost, clock));
    for (const char* suffix : kStoreSuffixes) {
      TRY(CopyFile(paths.database + suffix, folder + "/cluster.db" + suffix));
    }
    TRY(base::WriteFileAtomic(mark, folder, 0600, base::Durability::kNone));
    copy = folder;
  }
  const std::string time = BackupTime(paths);
  return base::Fail(
      base::Code::kInternal,
      fmt::format("the store {} is damaged ({}); a copy is in {}, and running pods continue: {}",
                  paths.database, checked.error().message, *copy,
                  time.empty() ? "there is no backup of it; if you move it away, muster starts "
                                 "with an empty one"
                               : fmt::format("`muster cluster --restore` brings back the backup of "
                                             "{}",
                                             time)));
}

base::Status ChooseBackup(const Paths& paths) {
  const std::string chosen = paths.backup + kChosenSuffix;
  ::unlink(chosen.c_str());
  if (::link(paths.backup.c_str(), chosen.c_str()) != 0 && errno != ENOENT) {
    return base::Fail(base::Errno(errno, "keep " + paths.backup));
  }
  return {};
}

base::Result<std::string> RestoreStore(const Paths& paths, base::Clock& clock) {
  TRY(MakePrivateDirs(paths));
  TRY_ASSIGN(const std::optional<base::Fd> lock, process::TryLockFile(paths.lock));
  if (!lock) {
    return base::Fail(base::Code::kUnavailable,
                      fmt::format("a daemon uses {}: run `muster down` first", paths.state));
  }
  const node::LostAndFound lost(paths.state);
  struct stat info{};
  const std::string chosen = paths.backup + kChosenSuffix;
  const std::string& backup = ::stat(chosen.c_str(), &info) == 0 ? chosen : paths.backup;
  if (::stat(backup.c_str(), &info) != 0) {
    return base::Fail(base::Code::kNotFound,
                      fmt::format("there is no backup: {} does not exist", backup));
  }
  TRY(store::Check(backup));
  std::string folder;
  if (::stat(paths.database.c_str(), &info) == 0) {
    TRY_ASSIGN(folder, MakeFolder(lost, clock));
    for (const char* suffix : kStoreSuffixes) {
      const std::string from = paths.database + suffix;
      if (::rename(from.c_str(), (folder + "/cluster.db" + suffix).c_str()) != 0 &&
          errno != ENOENT) {
        return base::Fail(base::Errno(errno, "move " + from));
      }
    }
  }
  ::unlink((paths.database + ".damaged").c_str());
  TRY(store::RestoreFrom(backup, paths.database));
  ::unlink(chosen.c_str());
  return folder;
}

}  // namespace local::daemon
