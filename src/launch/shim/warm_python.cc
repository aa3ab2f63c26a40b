#include "launch/shim/warm_python.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <set>
#include <utility>

#include "base/clock.h"
#include "launch/machine/process_tree.h"
#include "launch/shim/python_shim.h"
#include "launch/shim/warm_keeper.h"
#include "process/event_loop.h"
#include "process/pidfd.h"
#include "process/procfs.h"
#include "process/sessions.h"
#include "process/signals.h"
#include "process/spawn.h"
#include "warm/link.h"

namespace launch {
namespace {

// As a shell's.
constexpr int kFoundNone = 127;
constexpr int kCannotExecute = 126;
constexpr std::chrono::seconds kIdle{600};
// Processes in the kernel (state D) do not react even to SIGKILL.
constexpr base::Duration kLongestEnd = std::chrono::seconds(30);

void Complain(const std::string& text) {
  const std::string line = text + "\n";
  [[maybe_unused]] const ssize_t written = ::write(2, line.data(), line.size());
}

// The environment as the program would have received it, in the same order; a shell sets the name
// of what it executes.
std::vector<std::string> EntriesFor(const std::string& python) {
  std::vector<std::string> entries;
  for (char** entry = ::environ; *entry != nullptr; ++entry) {
    entries.emplace_back(std::string_view(*entry).starts_with("_=") ? "_=" + python : *entry);
  }
  return entries;
}

// All signals that can be passed on, which excludes those raised by our own faults.
sigset_t SignalsToPass() {
  sigset_t set;
  sigfillset(&set);
  for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT, SIGSYS}) {
    sigdelset(&set, signal);
  }
  return set;
}

// An exec leaves them ignored: nohup, trap '' HUP.
std::vector<int> IgnoredSignals() {
  std::vector<int> ignored;
  for (int signal = 1; signal < NSIG; ++signal) {
    struct sigaction action{};
    if (::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN) {
      ignored.push_back(signal);
    }
  }
  return ignored;
}

class StandIn {
 public:
  StandIn(process::EventLoop& loop, Keeper keeper, base::Fd keeper_end, base::Fd signals)
      : loop_(loop),
        keeper_(keeper.pid),
        keeper_end_(std::move(keeper_end)),
        signals_(std::move(signals)),
        link_(std::make_unique<warm::Link>(
            loop, std::move(keeper.connection), keeper.pid,
            warm::Link::Events{[this](pid_t pid, int code) { OnEnd(pid, code); },
                               [this] { FinishWhenAlone(); }, [this] { OnLost(); }})) {}
  ~StandIn() {
    loop_.Unwatch(signals_.get());
    loop_.Unwatch(keeper_end_.get());
  }
  StandIn(const StandIn&) = delete;
  StandIn& operator=(const StandIn&) = delete;

  base::Status Start(const process::SpawnOptions& options) {
    TRY(loop_.Watch(signals_.get(), EPOLLIN, [this](uint32_t) { PassOn(); }));
    TRY(loop_.Watch(keeper_end_.get(), EPOLLIN, [this](uint32_t) { loop_.Stop(); }));
    TRY_ASSIGN(program_, link_->Start(options, IgnoredSignals()));
    return link_->Watch();
  }

  int exit_code() const { return exit_code_; }  // negative: minus the signal

 private:
  void PassOn() {
    while (const auto info = process::ReadSignal(signals_.get())) {
      const int signal = static_cast<int>(info->ssi_signo);
      if (signal == SIGCHLD) continue;
      std::set<pid_t> groups;  // of its session: the program notifies those outside itself
      for (const process::ProcessStat& process : process::Descendants(keeper_)) {
        if (process.session == program_) {
          groups.insert(process.group);
        } else if (process.pid == program_) {
          ::kill(program_, signal);  // it has only been forked, and not begun its session
        }
      }
      for (const pid_t group : groups) ::kill(-group, signal);
      if (signal == SIGTERM && !std::exchange(has_to_end_, true)) {
        unasked_ = process::SessionsBelow(keeper_);
        unasked_.erase(program_);
        AskOrphans();
      }
    }
  }

  void AskOrphans() { process::SignalChildSessions(keeper_, SIGTERM, unasked_); }

  void OnEnd(pid_t pid, int code) {
    if (pid != program_) return;
    has_ended_ = true;
    exit_code_ = code;
    FinishWhenAlone();
  }

  // Processes that a program leaves behind end with it; processes that were asked to end get the
  // same grace period as the program.
  void FinishWhenAlone() {
    if (!has_ended_ || !link_->is_alive()) return;
    const bool may_linger = has_to_end_ && exit_code_ == -SIGTERM;
    if (may_linger) AskOrphans();
    if (may_linger && !RunningDescendantsOf(keeper_, {}).empty()) return;
    // Not from within its own callback.
    loop_.Post([this] {
      link_.reset();
      loop_.After(kLongestEnd, [this] { loop_.Stop(); });
    });
  }

  void OnLost() {
    if (!std::exchange(has_ended_, true)) exit_code_ = -SIGKILL;
    loop_.Stop();
  }

  process::EventLoop& loop_;
  pid_t keeper_;
  base::Fd keeper_end_;
  base::Fd signals_;
  pid_t program_ = 0;
  bool has_to_end_ = false;
  std::set<pid_t> unasked_;  // sessions that the program was to ask to end
  bool has_ended_ = false;
  int exit_code_ = 0;
  std::unique_ptr<warm::Link> link_;
};

// From here on only the program uses them.
void LetGoOfStreams() {
  const base::Fd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  for (const int fd : {0, 1, 2}) ::dup2(null.get(), fd);
}

// The program's exit code, or minus its signal; an error when it has to be executed.
base::Result<int> RunForked(const std::string& python, const std::vector<std::string>& args,
                            const base::Environment& environment) {
  const auto broker = environment.Get(kBrokerVariable);
  if (!broker) {
    return base::Fail(base::Code::kNotFound, fmt::format("{} is not set", kBrokerVariable));
  }
  process::SpawnOptions program;
  program.path = python;
  program.argv = args;
  program.env = EntriesFor(python);
  program.fds = {{0, 0}, {1, 1}, {2, 2}};

  warm::Wish wish;
  wish.python = python;
  wish.option = args.size() > 1 && args[1] == "-u" ? "-u" : "";
  wish.preload = environment.GetOr("PET_PRELOAD", "");
  wish.idle = kIdle;
  wish.environment = program.env;
  TRY_ASSIGN(Keeper keeper, ConnectKeeper(wish, *broker));
  TRY_ASSIGN(base::Fd keeper_end, process::OpenPidfd(keeper.pid));
  const sigset_t passed = SignalsToPass();
  base::Fd signals(::signalfd(-1, &passed, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals) return base::Fail(base::Errno(errno, "signalfd"));
  TRY_ASSIGN(const auto loop, process::EventLoop::Create(base::SystemClock()));
  StandIn stand_in(*loop, std::move(keeper), std::move(keeper_end), std::move(signals));
  TRY(stand_in.Start(program));
  LetGoOfStreams();
  TRY(loop->Run());
  return stand_in.exit_code();
}

// [-u] script.py ... or [-u] -m module ..., except for modules that a hook passes to the launcher
// (python_shim.h).
bool IsPlain(const std::vector<std::string>& args) {
  const size_t at = args.size() > 1 && args[1] == "-u" ? 2 : 1;
  if (at >= args.size()) return false;
  if (args[at] == "-m") return at + 1 < args.size() && !IsHandedOver(args[at + 1]);
  return !args[at].empty() && args[at][0] != '-';
}

int Execute(const std::string& python, const std::vector<std::string>& args) {
  const std::vector<std::string> entries = EntriesFor(python);
  std::vector<char*> words;
  std::vector<char*> variables;
  for (const std::string& word : args) words.push_back(const_cast<char*>(word.c_str()));
  for (const std::string& entry : entries) variables.push_back(const_cast<char*>(entry.c_str()));
  words.push_back(nullptr);
  variables.push_back(nullptr);
  ::execve(python.c_str(), words.data(), variables.data());
  Complain(fmt::format("{}: {}", args[0], std::strerror(errno)));
  return kCannotExecute;
}

int EndAs(int exit_code) {
  if (exit_code >= 0) return exit_code;
  // The program has written its core dump already.
  const rlimit none{};
  ::setrlimit(RLIMIT_CORE, &none);
  ::signal(-exit_code, SIG_DFL);
  sigset_t all;
  sigemptyset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
  ::kill(::getpid(), -exit_code);
  return 128 - exit_code;
}

}  // namespace

int WarmPythonMain(const std::vector<std::string>& args, const base::Environment& environment) {
  if (args.empty()) {
    Complain(fmt::format("{}: needs python and its words", kWarmPythonName));
    return 2;
  }
  const auto python =
      process::FindProgram(args[0], environment.GetOr("PATH", "/usr/local/bin:/usr/bin:/bin"));
  if (!python) {
    Complain(fmt::format(
        "{}: {}", args[0],
        python.error().code == base::Code::kNotFound ? "not found" : python.error().message));
    return python.error().code == base::Code::kNotFound ? kFoundNone : kCannotExecute;
  }
  if (!IsPlain(args)) return Execute(*python, args);
  const sigset_t passed = SignalsToPass();
  sigset_t before;
  ::sigprocmask(SIG_BLOCK, &passed, &before);
  const auto ended = RunForked(*python, args, environment);
  if (ended) return EndAs(*ended);
  Complain(fmt::format("muster: warm start: {}; the program is executed", ended.error().message));
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  return Execute(*python, args);
}

}  // namespace launch
