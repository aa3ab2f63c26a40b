#include "shims.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "base/clock.h"
#include "base/file.h"
#include "base/strings.h"
#include "local/node/logs/writer.h"
#include "local/node/pod/report_file.h"
#include "local/node/pod/shim_client.h"
#include "local/node/pod/shim_files.h"
#include "machine.h"
#include "process/file_lock.h"
#include "thread_table.h"

namespace simulation {
namespace {

using local::node::ContainerReport;
using local::node::ContainerState;
using local::node::PodReport;
using local::node::PodRestartPolicy;

constexpr int kMostRestarts = 2;
constexpr unsigned kFailingPrograms = 150;  // of a thousand
// Of two lines: of a program that ends by itself, and of one that does not.
constexpr uint64_t kMostMillis = 700;
constexpr uint64_t kMostMillisOfServers = 60'000;

base::Time WallNow() { return base::SystemClock().Now(); }

// The report's last word is tried until it is written. Whether it was.
bool WriteReport(local::node::ReportFile& file, const PodReport& report, bool is_last,
                 const Process& process) {
  for (int tries = 0; !process.is_dead; ++tries) {
    if (file.Write(report, is_last)) return !process.is_dead;
    if (!is_last && tries == 3) return false;
    SleepFor(500 * kMilli);
  }
  return false;
}

}  // namespace

void Shim::Signal(int signal, const siginfo_t* info) {
  if (is_over) return;
  if (signal == SIGKILL) {
    Kill(process);
    has_stray = false;  // ShimHandle::Kill ends its programs as well
  } else if (signal == SIGTERM || signal == local::node::kAtOnceSignal) {
    const Nanos grace = info == nullptr ? 0 : info->si_value.sival_int * kSecond;
    Trace(fmt::format("shim {} is asked to end in {} s", process.pid, grace / kSecond));
    is_asked_to_end = true;
    kill_at = std::min(kill_at, Now() + grace);
    WakeAll(Wait::kCondition, this);
  }
}

Shims::Shims(Machine& machine)
    : machine_(machine), real_(local::node::ProcessShims("/nowhere/muster")) {}
Shims::~Shims() = default;

// Few numbers: that of one which has ended is soon another's.
pid_t Shims::FreeNumber() {
  for (pid_t pid = 1000 + static_cast<pid_t>(Below(4));; ++pid) {
    const bool is_taken = std::any_of(shims_.begin(), shims_.end(), [pid](const auto& shim) {
      return shim->process.pid == pid && !shim->is_over;
    });
    if (!is_taken) return pid;
  }
}

base::Result<std::unique_ptr<local::node::RunningShim>> Shims::Start(
    const local::node::PodSpec& spec, const std::vector<int>& locks) {
  Step(2);
  if (ThisProcess().is_dead) return base::Fail(base::Code::kUnavailable, "dead");
  if (Chance(machine_.faults().failed_spawns)) {
    Trace("a spawn fails");
    return base::Fail(base::Errno(EAGAIN, "start shim"));
  }
  TRY(base::MakeDirs(spec.directory, 0700));
  auto made = std::make_unique<Shim>();
  Shim& shim = *made;
  const pid_t pid = FreeNumber();
  shim.process = {fmt::format("shim {}", pid), pid, spec.directory};
  shim.spec = spec;
  for (const int fd : locks) shim.locks.emplace_back(::fcntl(fd, F_DUPFD_CLOEXEC, 0));
  Register(shim, 10 * ++starts_);
  shim.process.on_death = [this, &shim] { End(shim); };
  shims_.push_back(std::move(made));
  Trace(fmt::format("shim {} starts for {}", shim.process.pid, spec.name));
  Spawn(shim.process, "shim", [this, &shim] { Run(shim); });
  // As the real one's word that it is in charge is waited for.
  const Nanos deadline = Now() + 20 * kSecond;
  while (!shim.is_ready && !shim.is_over && Now() < deadline) {
    Block(Wait::kCondition, &shim, deadline);
  }
  if (!shim.is_ready) return base::Fail(base::Code::kUnavailable, "start shim: it ended");
  TRY_ASSIGN(auto handle, real_->Adopt(spec.directory));
  if (!handle) return base::Fail(base::Code::kNotFound, "pidfd_open: no such process");
  return handle;
}

bool Shims::WasStarted(const std::string& directory) { return real_->WasStarted(directory); }
base::Result<std::unique_ptr<local::node::RunningShim>> Shims::Adopt(const std::string& directory) {
  return real_->Adopt(directory);
}
bool Shims::IsFromEarlierBoot(const std::string& directory) {
  return real_->IsFromEarlierBoot(directory);
}
base::Result<PodReport> Shims::ReadReport(const std::string& directory) {
  return real_->ReadReport(directory);
}

base::Status Shims::KillStrays(const std::string&, std::string_view pod_uid) {
  Step(2);
  if (ThisProcess().is_dead) return base::Fail(base::Code::kUnavailable, "dead");
  for (const auto& shim : shims_) {
    if (shim->spec.uid == pod_uid) shim->has_stray = false;
  }
  return {};
}

void Shims::End(Shim& shim) {
  if (std::exchange(shim.is_over, true)) return;
  Forget(shim);
  shim.locks.clear();
  shim.lock.Reset();
  WakeAll(Wait::kCondition, &shim);
}

void Shims::Run(Shim& shim) {
  // As local/node/shim/shim.cc's TakeDirectory.
  auto lock = process::TryLockFile(local::node::kLockFile);
  if (lock && *lock && local::node::WriteIdentity() && !shim.process.is_dead) {
    shim.lock = std::move(**lock);
    shim.is_ready = true;
    WakeAll(Wait::kCondition, &shim);
    RunContainers(shim);
  }
  shim.process.on_death = {};
  End(shim);
  Trace(fmt::format("shim {} has ended", shim.process.pid));
}

// The program finds all that its pod refers to.
void Shims::CheckSettings(const Shim& shim) const {
  int64_t wanted = 0;
  int64_t found = 0;
  for (const auto& [name, value] : shim.spec.containers.front().env) {
    if (name == kSettingCount) wanted = base::ParseInt(value).value_or(-1);
    if (name.starts_with(kSetting) && value == kSettingValue) ++found;
  }
  if (wanted == 0) return;
  for (const local::node::Mount& mount : shim.spec.mounts) {
    if (!mount.target.starts_with(kSettings)) continue;
    const auto content = base::ReadFile(mount.source + "/" + kSettingKey);
    if (content && *content == kSettingValue) ++found;
  }
  if (found == wanted || shim.process.is_dead) return;
  GoneWrong(
      fmt::format("a program of pod {} finds {} of {} settings", shim.spec.name, found, wanted));
}

void Shims::RunContainers(Shim& shim) {
  Process& process = shim.process;
  CheckSettings(shim);
  if (!begun_.insert(shim.spec.uid).second) {
    GoneWrong(fmt::format("a program of pod {} ({}) is started a second time", shim.spec.name,
                          shim.spec.uid));
  }
  local::node::ReportFile file;
  PodReport report;
  report.uid = shim.spec.uid;
  for (const local::node::ContainerSpec& container : shim.spec.containers) {
    report.containers.emplace_back().name = container.name;
  }
  shim.has_stray = true;
  file.Reserve();
  bool has_succeeded = true;
  ContainerReport& container = report.containers.front();
  for (int run = 0; !process.is_dead; ++run) {
    container.state = ContainerState();
    container.state.phase = ContainerState::Phase::kRunning;
    container.state.started_at = WallNow();
    (void)base::MakeDirs("logs/" + container.name, 0700);
    local::node::LogWriter log(fmt::format("logs/{}/{}.log", container.name, run));
    (void)WriteReport(file, report, false, process);
    // The program: prints a line now and then, and ends by itself, unless it serves.
    const auto& argv = shim.spec.containers.front().argv;
    const bool serves = !argv.empty() && argv.front() == kServe;
    const Nanos end = serves ? kNever : Now() + static_cast<Nanos>(Below(3'000)) * kMilli;
    const uint64_t pause = serves ? kMostMillisOfServers : kMostMillis;
    while (Now() < end && !process.is_dead && !shim.is_asked_to_end) {
      Block(Wait::kCondition, &shim,
            std::min(end, Now() + static_cast<Nanos>(Below(pause)) * kMilli));
      if (process.is_dead) return;
      log.Append(local::node::LogStream::kStdout,
                 fmt::format("line {} of {}\n", ++printed_[shim.spec.uid], shim.spec.uid),
                 WallNow());
      if (machine_.faults().killed_shims > 0 && Chance(machine_.faults().killed_shims)) {
        process.kill_after = static_cast<int64_t>(Below(12));
      }
    }
    if (shim.is_asked_to_end && shim.kill_at > Now()) {
      const Nanos patience = std::min(shim.kill_at - Now(), 3 * kSecond);
      SleepFor(static_cast<Nanos>(Below(static_cast<uint64_t>(patience) + 1)));
    }
    if (process.is_dead) return;
    log.End(local::node::LogStream::kStdout, WallNow());
    const int code = shim.is_asked_to_end ? 143 : Chance(kFailingPrograms) ? 1 : 0;
    container.log_loss = log.UnreportedLoss();
    container.state.phase = ContainerState::Phase::kTerminated;
    container.state.exit_code = code;
    container.state.reason = code == 0 ? "Completed" : "Error";
    container.state.finished_at = WallNow();
    has_succeeded = code == 0;
    const bool is_restarted = shim.spec.restart_policy != PodRestartPolicy::kNever && code != 0 &&
                              !shim.is_asked_to_end && run < kMostRestarts;
    if (!is_restarted) break;
    container.last_termination = container.state;
    container.restart_count = run + 1;
    (void)WriteReport(file, report, false, process);
    SleepFor(2 * kSecond);
  }
  if (process.is_dead) return;
  shim.has_stray = false;
  report.is_finished = true;
  report.has_succeeded = has_succeeded;
  if (!WriteReport(file, report, true, process)) return;
  ended_[shim.spec.uid] = has_succeeded;
  file.Release();
}

std::optional<bool> Shims::Ended(const std::string& pod_uid) const {
  const auto found = ended_.find(pod_uid);
  return found == ended_.end() ? std::nullopt : std::optional(found->second);
}

bool Shims::KillOne() {
  std::vector<Shim*> running;
  for (const auto& shim : shims_) {
    if (!shim->is_over) running.push_back(shim.get());
  }
  if (running.empty()) return false;
  simulation::Kill(running[Below(running.size())]->process);
  return true;
}

void Shims::KillAll() {
  for (const auto& shim : shims_) {
    shim->has_stray = false;
    if (!shim->is_over) simulation::Kill(shim->process);
  }
}

void Shims::AwaitEnds() {
  for (const auto& shim : shims_) AwaitEnd(shim->process);
}

size_t Shims::Running() const {
  return static_cast<size_t>(std::count_if(shims_.begin(), shims_.end(), [](const auto& shim) {
    return !shim->is_over || shim->has_stray;
  }));
}

bool Shims::Runs(const std::string& pod_uid) const {
  return std::any_of(shims_.begin(), shims_.end(), [&](const auto& shim) {
    return shim->spec.uid == pod_uid && (!shim->is_over || shim->has_stray);
  });
}

std::string Shims::Describe() const {
  std::string text;
  for (const auto& shim : shims_) {
    if (shim->is_over && !shim->has_stray) continue;
    text += fmt::format("  shim {} of {} ({}){}{}\n", shim->process.pid, shim->spec.name,
                        shim->spec.uid, shim->is_over ? " is gone" : "",
                        shim->has_stray ? ", its program runs" : "");
  }
  return text;
}

}  // namespace simulation
