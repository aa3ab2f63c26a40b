#include "local/node/shim/pod_runner.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <set>
#include <utility>

#include "api/names.h"
#include "base/file.h"
#include "base/log.h"
#include "local/node/pod/cgroup.h"
#include "local/node/pod/shim_files.h"
#include "local/node/shim/memory_use.h"
#include "process/procfs.h"
#include "process/sessions.h"

namespace local::node {
namespace {

using Phase = ContainerState::Phase;

// After running this long, a container starts its back-off again (kubelet's rule).
constexpr std::chrono::minutes kStableRun{10};
// The wait before the first restart, which a kubelet makes at its next look, about a second later.
// Here it is a back-off, too, because the job may have no restart left
// (reconcile/limits/backoff_limit.cc).
constexpr std::chrono::seconds kFirstWait{1};
// Logs of older runs are removed, because a container may be restarted for months.
constexpr int kKeptRuns = 10;
// How long the end waits for processes that survive SIGKILL (uninterruptible I/O).
constexpr std::chrono::seconds kStrayWait{10};

void KillDescendants() {
  for (const process::ProcessStat& process : process::Descendants(::getpid())) {
    if (process.state != 'Z') ::kill(process.pid, SIGKILL);
  }
}

// Whether the pod's folder was removed: what is written there can never be read. A folder that was
// moved is still one.
bool IsFolderRemoved() {
  struct stat info{};
  if (::stat(".", &info) != 0) return errno == ENOENT || errno == ESTALE;
  return info.st_nlink == 0;
}

bool HasChildren() {
  siginfo_t info{};
  return ::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

ContainerState Waiting(std::string reason, std::string message = "") {
  ContainerState state;
  state.reason = std::move(reason);
  state.message = std::move(message);
  return state;
}

}  // namespace

PodRunner::PodRunner(process::EventLoop& loop, base::Clock& clock, const PodSpec& spec)
    : loop_(loop),
      clock_(clock),
      spec_(spec),
      execs_(loop, spec, [this](std::string_view name) { return FindRunningContainer(name); }) {
  const std::string reason = spec.init_containers.empty() ? "ContainerCreating" : "PodInitializing";
  const auto add = [&](const ContainerSpec& container, std::vector<std::unique_ptr<Slot>>& to) {
    auto slot = std::make_unique<Slot>(container, base::Duration(spec_.restart_backoff));
    slot->report.name = container.name;
    slot->report.state = Waiting(reason);
    to.push_back(std::move(slot));
  };
  for (const ContainerSpec& container : spec.init_containers) add(container, init_slots_);
  for (const ContainerSpec& container : spec.containers) add(container, slots_);
}

PodRunner::~PodRunner() = default;

void PodRunner::Start() {
  if (const base::Status listening = execs_.Listen(); !listening) {
    base::LogWarn("{}", listening.error().message);
  }
  RunNext();
  report_file_.Reserve();
}

void PodRunner::Reject(const std::string& reason, const std::string& message) {
  reason_ = reason;
  message_ = message;
  Finish();
}

void PodRunner::TakeLogNote() {
  constexpr size_t kLongest = 1 << 20;
  const auto note = base::ReadFile(kLogNoteFile, kLongest);
  ::unlink(kLogNoteFile);
  if (!note) return;
  for (const auto& slot : slots_) {
    if (slot->is_running && slot->spec.name == api::kContainerName) slot->run->AddToLog(*note);
  }
}

void PodRunner::RunNext() {
  if (is_terminating_) return Finish();
  if (next_init_ < init_slots_.size()) {
    StartSlot(*init_slots_[next_init_]);
    return UpdateReport(false);
  }
  if (!are_containers_started_) {
    are_containers_started_ = true;
    for (const auto& slot : slots_) StartSlot(*slot);
    UpdateReport(false);
  }
  if (slots_.empty()) Finish();
}

void PodRunner::StartSlot(Slot& slot) {
  if (auto made = base::MakeDirs("logs/" + slot.spec.name, 0700); !made) {
    base::LogWarn("{}", made.error().message);
  }
  const int oldest = slot.report.restart_count - kKeptRuns;
  if (oldest >= 0) ::unlink(fmt::format("logs/{}/{}.log", slot.spec.name, oldest).c_str());
  slot.run = std::make_unique<ContainerRun>(
      loop_, clock_, spec_, slot.spec, slot.report.restart_count,
      ContainerRun::Callbacks{[this, &slot] { OnSlotEnd(slot); },
                              [this, &slot] {
                                slot.report.log_loss = slot.run->UnreportedLoss();
                                UpdateReport(false);
                              },
                              [this, &slot] {
                                for (const pid_t pid : ProcessesOf(slot.run->pid())) {
                                  ::kill(pid, SIGKILL);
                                }
                              }});
  slot.is_active = true;
  if (!slot.run->Start()) {
    // Posted, because the caller may be starting the other containers.
    loop_.Post([this, &slot] { OnSlotEnd(slot); });
    return;
  }
  slot.is_running = true;
  slot.report.state = ContainerState{};
  slot.report.state.phase = Phase::kRunning;
  slot.report.state.started_at = slot.run->state().started_at;
  const auto begun = process::ReadStat(slot.run->pid());
  if (slot.spec.memory_limit && !IsMemoryLimited(slot.spec)) WatchMemory(slot);
  slot.report.session = begun ? PodSession{begun->pid, begun->start_ticks} : PodSession{};
}

void PodRunner::OnSlotEnd(Slot& slot) {
  slot.is_active = false;
  slot.report.log_loss = slot.run->UnreportedLoss();
  slot.report.state = slot.run->state();
  const bool is_init = next_init_ < init_slots_.size();
  if (ShouldRestart(slot)) {
    ScheduleRestart(slot);
    return UpdateReport(true);
  }
  slot.is_done = true;
  if (is_init) {
    if (slot.report.state.exit_code != 0 || is_terminating_) return Finish();
    ++next_init_;
    return RunNext();
  }
  if (Count(&Slot::is_done) == slots_.size() + next_init_) return Finish();
  UpdateReport(true);
}

bool PodRunner::ShouldRestart(const Slot& slot) const {
  if (is_terminating_ || is_finishing_ || slot.run->HasLostLoss()) return false;
  if (IsFolderRemoved()) return false;
  const bool is_init = next_init_ < init_slots_.size();
  const bool has_failed = slot.report.state.exit_code != 0;
  switch (spec_.restart_policy) {
    case PodRestartPolicy::kAlways:
      return has_failed || !is_init;
    case PodRestartPolicy::kOnFailure:
      return has_failed;
    case PodRestartPolicy::kNever:
      return false;
  }
  return false;
}

void PodRunner::ScheduleRestart(Slot& slot) {
  const ContainerState& ended = slot.report.state;
  if (ended.started_at && ended.finished_at &&
      *ended.finished_at - *ended.started_at > kStableRun) {
    slot.backoff.Reset();
    slot.is_calm = true;
  }
  const base::Duration wait = std::exchange(slot.is_calm, false)
                                  ? std::min<base::Duration>(kFirstWait, spec_.restart_backoff)
                                  : slot.backoff.Next();
  slot.end_before = std::exchange(slot.report.last_termination, ended);
  slot.report.state = Waiting(
      "CrashLoopBackOff", fmt::format("back-off {} restarting failed container={} pod={}_{}({})",
                                      base::ShortDuration(wait), slot.spec.name, spec_.name,
                                      spec_.namespace_name, spec_.uid));
  slot.restart_timer = loop_.After(wait, [this, &slot] {
    slot.restart_timer = 0;
    if (IsFolderRemoved()) return OnSlotEnd(slot);
    ++slot.report.restart_count;
    StartSlot(slot);
    UpdateReport(false);
  });
}

void PodRunner::Terminate(std::chrono::seconds grace) {
  if (is_finishing_) return;
  const auto deadline = clock_.Steady() + grace;
  if (is_terminating_ && deadline >= kill_deadline_) return;
  kill_deadline_ = deadline;
  loop_.Cancel(kill_timer_);
  kill_timer_ = loop_.At(deadline, [this] { OnGraceEnd(); });
  if (is_terminating_) return;
  is_terminating_ = true;
  for (auto* const slots : {&init_slots_, &slots_}) {
    for (const auto& slot : *slots) {
      if (slot->restart_timer == 0) continue;
      // It was waiting for its restart: its last end is final.
      loop_.Cancel(slot->restart_timer);
      slot->restart_timer = 0;
      slot->report.state =
          *std::exchange(slot->report.last_termination, std::move(slot->end_before));
      slot->is_done = true;
    }
  }
  unasked_ = process::SessionsBelow(::getpid());
  process::SignalChildSessions(::getpid(), SIGTERM, unasked_);
  if (Count(&Slot::is_active) == 0) Finish();
}

void PodRunner::OnGraceEnd() {
  is_killing_ = true;
  for (auto* const slots : {&init_slots_, &slots_}) {
    for (const auto& slot : *slots) {
      if (slot->is_active && !slot->is_running) slot->run->LimitDrain();
    }
  }
  KillDescendants();
  if (is_finishing_) FinishWhenAlone();
}

void PodRunner::Reap() {
  while (true) {
    siginfo_t info{};
    // Examined before it is reaped, because its pid then still identifies its process group.
    if (::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0) break;
    Slot* const slot = FindRunning(info.si_pid);
    // `sh -c` dies of the SIGTERM that its program is still handling: the program gets the grace
    // period too.
    const bool is_lingering =
        is_terminating_ && !is_killing_ && info.si_code == CLD_KILLED && info.si_status == SIGTERM;
    if (slot != nullptr && !is_lingering) KillLeftovers(info.si_pid);
    if (slot != nullptr) execs_.ContainerEnded(slot->spec.name);
    int status = 0;
    if (::waitpid(info.si_pid, &status, 0) < 0) break;
    if (slot == nullptr) execs_.OnExit(info.si_pid, status);
    if (slot != nullptr) {
      slot->is_running = false;
      loop_.Cancel(std::exchange(slot->memory_timer, 0));
      slot->run->OnExit(status, is_killing_);
      if (!is_lingering) slot->run->LimitDrain();
    }
  }
  if (!is_killing_) process::SignalChildSessions(::getpid(), SIGTERM, unasked_);
  if (is_killing_ && !is_finishing_) KillDescendants();
  if (is_finishing_) FinishWhenAlone();
}

// Used when no cgroup enforces the container's limit. Kills the whole container, as the kernel does
// with a cgroup.
void PodRunner::WatchMemory(Slot& slot) {
  slot.memory_timer = 0;
  if (!slot.is_running) return;
  const auto begin = clock_.Steady();
  const int64_t limit = *slot.spec.memory_limit;
  const std::vector<pid_t> processes = ProcessesOf(slot.run->pid());
  const int64_t used = MemoryOf(processes, limit);
  if (used <= limit) {
    slot.memory_timer = loop_.After(UntilNextLook(used, limit, clock_.Steady() - begin),
                                    [this, &slot] { WatchMemory(slot); });
    return;
  }
  slot.run->ExceedsMemory(used);
  for (const pid_t pid : processes) ::kill(pid, SIGKILL);
}

// The processes of a running container: its own, their descendants, and processes that moved to
// another session or group; for the only container of a pod, all processes.
std::vector<pid_t> PodRunner::ProcessesOf(pid_t container) const {
  const bool is_only = Count(&Slot::is_running) == 1;
  std::set<pid_t> found;
  // Parents come before their children.
  for (const process::ProcessStat& process : process::Descendants(::getpid())) {
    if (process.state == 'Z') continue;
    const bool is_of_it = process.pid == container || process.session == container ||
                          process.group == container || found.contains(process.parent);
    if (is_only || is_of_it) found.insert(process.pid);
  }
  return {found.begin(), found.end()};
}

// Processes that a container leaves behind end with it, as in a container of its own.
void PodRunner::KillLeftovers(pid_t ended) {
  const bool is_only = Count(&Slot::is_running) == 1;
  for (const process::ProcessStat& process : process::Descendants(::getpid())) {
    const bool is_of_it = process.session == ended || process.group == ended;
    if (process.state != 'Z' && (is_only || is_of_it)) ::kill(process.pid, SIGKILL);
  }
}

void PodRunner::Finish() {
  if (is_finishing_) return;
  is_finishing_ = true;
  if (!is_terminating_) is_killing_ = true;
  FinishWhenAlone();
}

// Every stray process is or becomes a child of this one, so its death causes another SIGCHLD.
void PodRunner::FinishWhenAlone() {
  if (is_report_final_) return;
  if (!HasChildren()) return WriteFinalReport();
  if (!is_killing_) return;  // they have until the end of the grace period
  KillDescendants();
  if (finish_timer_ != 0) return;
  finish_timer_ = loop_.After(kStrayWait, [this] {
    base::LogWarn("processes of the pod survive SIGKILL");
    WriteFinalReport();
  });
}

void PodRunner::WriteFinalReport() {
  is_report_final_ = true;
  UpdateReport(true);
}

void PodRunner::UpdateReport(bool is_synced) {
  loop_.Cancel(report_timer_);
  report_timer_ = 0;
  const base::Status written = report_file_.Write(MakeReport(), is_synced);
  if (written || IsFolderRemoved()) {
    report_backoff_.Reset();
    if (is_report_final_) {
      report_file_.Release();
      loop_.Stop();
    }
    return;
  }
  base::LogWarn("{}", written.error().message);
  report_timer_ =
      loop_.After(report_backoff_.Next(), [this, is_synced] { UpdateReport(is_synced); });
}

PodReport PodRunner::MakeReport() const {
  PodReport report;
  report.uid = spec_.uid;
  for (const auto& slot : init_slots_) report.init_containers.push_back(slot->report);
  for (const auto& slot : slots_) report.containers.push_back(slot->report);
  report.is_finished = is_report_final_;
  report.has_succeeded =
      is_report_final_ && reason_.empty() &&
      std::all_of(slots_.begin(), slots_.end(), [](const auto& slot) {
        return slot->report.state.phase == Phase::kTerminated && slot->report.state.exit_code == 0;
      });
  report.reason = reason_;
  report.message = message_;
  return report;
}

PodRunner::Slot* PodRunner::FindRunning(pid_t pid) {
  for (auto* const slots : {&init_slots_, &slots_}) {
    for (const auto& slot : *slots) {
      if (slot->is_running && slot->run->pid() == pid) return slot.get();
    }
  }
  return nullptr;
}

const ContainerSpec* PodRunner::FindRunningContainer(std::string_view name) const {
  for (const auto* const slots : {&init_slots_, &slots_}) {
    for (const auto& slot : *slots) {
      if (slot->is_running && slot->spec.name == name) return &slot->spec;
    }
  }
  return nullptr;
}

size_t PodRunner::Count(bool Slot::* flag) const {
  size_t count = 0;
  for (const auto* const slots : {&init_slots_, &slots_}) {
    for (const auto& slot : *slots) count += (*slot).*flag ? 1 : 0;
  }
  return count;
}

}  // namespace local::node
