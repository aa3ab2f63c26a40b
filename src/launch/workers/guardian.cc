#include "launch/workers/guardian.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <string>

#include "base/file.h"
#include "base/machine/signal_name.h"
#include "base/strings.h"
#include "launch/machine/process_tree.h"
#include "process/pidfd.h"

namespace launch {
namespace {

constexpr base::Duration kLongestEnforcing = std::chrono::seconds(10);
constexpr int kEnforcingRoundMillis = 5;
// A process is reported to have ended a moment before its last thread is gone. Whoever reaps it
// then makes Linux (6.18) loop, without sleeping, until /proc has forgotten that thread: on a busy
// machine that took up to seconds, and a tenth of all processors' time of 40 launches.
constexpr int kLastThreadMillis = 3;

// Prints a line in the agent's style, because the agent no longer can.
void Say(const std::string& text) {
  const std::string line = fmt::format("muster-launch: {}\n", text);
  [[maybe_unused]] const ssize_t written = ::write(2, line.data(), line.size());
}

// Changes the name that ps shows, so that killing the launcher by its name or by its script's name
// (pkill -9 -f) does not hit the agent, which ends everything else.
void TakeAgentsName(pid_t guardian) {
  ::prctl(PR_SET_NAME, "muster-agent");
  constexpr size_t kArgStart = 48;  // proc(5); after the name, the fields begin with the third
  const std::string stat = base::ReadFile("/proc/self/stat").value_or("");
  if (stat.rfind(')') == std::string::npos) return;  // no /proc: only the name is changed
  const auto fields = base::Split(std::string_view(stat).substr(stat.rfind(')') + 2), ' ');
  if (fields.size() <= kArgStart - 2) return;
  const auto begin = base::ParseInt(fields[kArgStart - 3]).value_or(0);
  const auto end = base::ParseInt(fields[kArgStart - 2]).value_or(0);
  if (begin <= 0 || end <= begin) return;  // the kernel does not show it
  const std::string title = fmt::format("muster-agent of {}", guardian);
  const auto size = static_cast<size_t>(end - begin);
  char* const words = reinterpret_cast<char*>(begin);  // NOLINT: the kernel reports it as a number
  std::fill_n(words, size, '\0');
  std::copy_n(title.begin(), std::min(title.size(), size - 1), words);
}

bool IsIgnored(int signal) {
  struct sigaction action{};
  return ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

base::Result<AgentSide> MakeAgentSide(pid_t guardian, const sigset_t& set) {
  AgentSide side;
  TRY_ASSIGN(side.guardian, process::OpenPidfd(guardian));
  if (::getppid() != guardian) return base::Fail(base::Code::kCancelled, "the launcher has ended");
  side.signals = base::Fd(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!side.signals) return base::Fail(base::Errno(errno, "signalfd"));
  return side;
}

[[noreturn]] void BeAgent(pid_t guardian, const sigset_t& set, std::shared_ptr<Lease> lease,
                          const std::function<int(AgentSide)>& agent) {
  AdoptOrphans();
  TakeAgentsName(guardian);
  // Ctrl-C reaches only the guardian, which passes it on.
  ::setsid();
  auto side = MakeAgentSide(guardian, set);
  if (!side) {
    Say(fmt::format("error: {}", side.error().message));
    ::_exit(1);
  }
  side->lease = std::move(lease);
  ::_exit(agent(std::move(*side)));
}

int ExitCodeOfAgent(int status) {
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  Say(fmt::format("error: the launcher's agent was killed by {}; its workers are killed too",
                  base::SignalName(WTERMSIG(status))));
  return 128 + WTERMSIG(status);
}

std::vector<pid_t> WorkersOf(pid_t agent, pid_t keeper) {
  auto running = RunningDescendantsOf(agent, {});
  if (keeper != 0) {
    const auto forked = RunningDescendantsOf(keeper, {});
    running.insert(running.end(), forked.begin(), forked.end());
  }
  return running;
}

// Leaves the agent alone: when it continues, it finds its workers gone, and joins again.
void EndWorkersOf(pid_t agent, pid_t keeper) {
  auto running = WorkersOf(agent, keeper);
  if (running.empty()) return;
  Say("the launcher's agent has stood still for too long (stopped? a debugger?): the other nodes "
      "go on without its workers, which are killed");
  const auto give_up = base::SystemClock().Steady() + kLongestEnforcing;
  for (; !running.empty() && base::SystemClock().Steady() < give_up;
       running = WorkersOf(agent, keeper)) {
    SignalAll(running, SIGKILL);
    ::poll(nullptr, 0, kEnforcingRoundMillis);
  }
}

// The next signal; 0: none before the end of the lease `until`.
int WaitForSignal(const sigset_t& set, int64_t until) {
  siginfo_t info{};
  if (until == Lease::kNone) return ::sigwaitinfo(&set, &info);
  const auto left = std::max<base::Duration>(Lease::Left(until, base::SystemClock()), {});
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(left);
  const timespec timeout{seconds.count(), std::chrono::nanoseconds(left - seconds).count()};
  const int signal = ::sigtimedwait(&set, &info, &timeout);
  return signal < 0 && errno == EAGAIN ? 0 : signal;
}

// Runs until the agent has ended. Also reaps orphans that become its children meanwhile.
int PassSignalsOn(pid_t agent, pid_t keeper, const Lease* lease, const sigset_t& set) {
  int64_t enforced = Lease::kNone;
  while (true) {
    const int64_t until = lease == nullptr ? Lease::kNone : lease->until();
    const int signal = WaitForSignal(set, until == enforced ? Lease::kNone : until);
    if (signal == 0 && lease->until() == until) {
      enforced = until;
      EndWorkersOf(agent, keeper);
    }
    if (signal <= 0) continue;
    if (signal != SIGCHLD) {
      ::kill(agent, signal);
      continue;
    }
    int status = 0;
    pid_t reaped = 0;
    ::poll(nullptr, 0, kLastThreadMillis);
    while ((reaped = ::waitpid(-1, &status, WNOHANG)) > 0) {
      if (reaped == agent) return ExitCodeOfAgent(status);
    }
  }
}

}  // namespace

std::shared_ptr<Lease> Lease::Make() {
  void* const shared =
      ::mmap(nullptr, sizeof(Lease), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return nullptr;
  return {new (shared) Lease(), [](Lease* lease) { ::munmap(lease, sizeof(Lease)); }};
}

void Lease::Set(std::optional<base::Duration> left, base::Clock& clock) {
  const auto until = clock.Steady() + left.value_or(base::Duration{});
  const int64_t before =
      until_.exchange(left ? std::chrono::nanoseconds(until.time_since_epoch()).count() : kNone);
  // Wakes a guardian that waits for signals only, because there is a deadline now.
  if (left && before == kNone) ::kill(::getppid(), SIGCHLD);
}

base::Duration Lease::Left(int64_t until, base::Clock& clock) {
  return std::chrono::ceil<base::Duration>(std::chrono::nanoseconds(until) -
                                           clock.Steady().time_since_epoch());
}

base::Result<int> RunGuarded(std::vector<int> signals, const std::function<int(AgentSide)>& agent,
                             base::Fd* only_agents, pid_t keeper) {
  std::erase_if(signals, [](int signal) { return signal == SIGHUP && IsIgnored(signal); });
  ::signal(SIGPIPE, SIG_IGN);
  // A log that may not grow (ulimit -f) is handled like a full disk.
  ::signal(SIGXFSZ, SIG_IGN);
  // If a parent had set it to ignored, the kernel would reap our children.
  ::signal(SIGCHLD, SIG_DFL);
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : signals) sigaddset(&set, signal);
  sigaddset(&set, SIGCHLD);
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
  // A shell may have started something in the background before it became the launcher.
  const std::vector<pid_t> not_ours = RunningDescendants();
  AdoptOrphans();

  const auto lease = Lease::Make();
  const pid_t guardian = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) return base::Fail(base::Errno(errno, "fork"));
  if (child == 0) BeAgent(guardian, set, lease, agent);
  if (only_agents != nullptr) only_agents->Reset();
  const int exit_code = PassSignalsOn(child, keeper, lease.get(), set);
  KillTree(not_ours);
  return exit_code;
}

}  // namespace launch
