#include "watch/watch.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <memory>
#include <optional>

#include "arena/app/complete_names.h"
#include "arena/jobs/jobs.h"
#include "base/colour.h"
#include "process/signals.h"
#include "watch/draw.h"
#include "watch/feed.h"
#include "watch/foreground.h"
#include "watch/log_pipe.h"
#include "watch/terminal.h"

namespace watch {
namespace {

constexpr int kTickMillis = 1000;  // to update ages
constexpr int kEscapeMillis = 50;  // an escape sequence would be complete by then
constexpr const char* kLogTail = "300";
constexpr int kInterrupted = 130;

using Want = Wish::Kind;

// The flags that select the same cluster.
std::vector<std::string> GlobalArgs(const arena::Context& context,
                                    const std::string& namespace_name) {
  const arena::GlobalFlags& flags = context.flags;
  std::vector<std::string> args;
  const auto add = [&args](const char* flag, const std::string& value) {
    if (!value.empty()) args.push_back(fmt::format("{}={}", flag, value));
  };
  if (flags.local || context.cluster_is_this_machine) args.emplace_back("--local");
  add("--kubeconfig", flags.KubeconfigPath());
  add("--context", flags.context);
  add("--namespace", namespace_name);
  add("--arena-namespace", flags.arena_namespace);
  return args;
}

class Watching {
 public:
  Watching(const arena::Context& context, std::string self, Feed& feed, Terminal terminal,
           base::Fd signals)
      : context_(context),
        self_(std::move(self)),
        feed_(feed),
        terminal_(std::move(terminal)),
        signals_(std::move(signals)) {}

  void Open(const std::string& namespace_name, const std::string& name) {
    JobView view;
    view.namespace_name = namespace_name;
    view.name = name;
    for (const JobRow& row : state_.jobs) {
      if (row.name == name && row.namespace_name == namespace_name) view.row = row;
    }
    state_.view = std::move(view);
    state_.rank_top = state_.log_back = 0;
    state_.log_filter.clear();
    feed_.LookAt(std::pair(namespace_name, name));
    auto log = LogPipe::Start(
        self_, Command(namespace_name, {"logs", name, "--all", "--follow", "--tail", kLogTail}),
        Environment());
    if (log) {
      log_ = std::move(*log);
    } else {
      state_.problem = log.error().message;
    }
  }

  void OnlyThis() { state_.is_alone = true; }

  // Runs until a key or a signal ends it. Returns the exit code.
  int Run() {
    Show();
    for (;;) {
      std::array<pollfd, 4> fds = {{{STDIN_FILENO, POLLIN, 0},
                                    {signals_.get(), POLLIN, 0},
                                    {feed_.fd(), POLLIN, 0},
                                    {log_ ? log_->fd() : -1, POLLIN, 0}}};
      const int ready =
          ::poll(fds.data(), fds.size(), keys_.is_waiting() ? kEscapeMillis : kTickMillis);
      if (ready < 0 && errno != EINTR) return 1;
      if (const auto code = OnSignals()) return *code;
      feed_.Take(state_);
      if (fds[3].revents != 0) TakeLog();
      std::vector<Key> keys;
      if ((fds[0].revents & POLLIN) != 0) {
        std::array<char, 256> bytes{};
        const ssize_t count = ::read(STDIN_FILENO, bytes.data(), bytes.size());
        if (count <= 0 && errno != EINTR) return 1;
        if (count > 0) keys = keys_.Feed({bytes.data(), static_cast<size_t>(count)});
      } else if ((fds[0].revents & (POLLHUP | POLLERR)) != 0) {
        return 1;
      } else if (ready == 0) {
        keys = keys_.Flush();
      }
      for (const Key& key : keys) {
        if (const auto code = Carry(OnKey(state_, key, PageOf(shown_.height())))) return *code;
      }
      if (!Show()) return 1;
    }
  }

 private:
  std::vector<std::string> Environment() const { return context_.environment.AsList(); }

  std::vector<std::string> Command(const std::string& namespace_name,
                                   std::vector<std::string> words) const {
    std::vector<std::string> argv = {context_.program};
    argv.insert(argv.end(), words.begin(), words.end());
    for (std::string& arg : GlobalArgs(context_, namespace_name)) argv.push_back(std::move(arg));
    return argv;
  }

  // The exit code if a signal ends it.
  std::optional<int> OnSignals() {
    while (const auto signal = process::ReadSignal(signals_.get())) {
      const auto number = static_cast<int>(signal->ssi_signo);
      if (number == SIGTSTP) {
        terminal_.Suspend();
        process::StopUntilContinued();
      }
      // A group that no shell would continue was not stopped.
      if (number == SIGCONT || number == SIGTSTP) {
        terminal_.Resume();
        shown_ = cli::Screen(0, 0);
      }
      if (number == SIGCONT || number == SIGWINCH || number == SIGTSTP) continue;
      return number == SIGINT ? kInterrupted : 128 + number;
    }
    return std::nullopt;
  }

  void TakeLog() {
    if (!log_ || !state_.view) return;
    for (std::string& line : log_->Read()) AddToLog(state_, std::move(line));
    if (log_->fd() < 0) log_.reset();
  }

  // False if the terminal is gone.
  bool Show() {
    const auto [width, height] = Terminal::Size();
    cli::Screen screen = Draw(state_, width, height, context_.clock.Now());
    const std::string changes = cli::Changes(shown_, screen, base::HasColour(STDOUT_FILENO));
    shown_ = std::move(screen);
    return changes.empty() || Terminal::Write(changes);
  }

  // The exit code if it ends `watch`.
  std::optional<int> Carry(const Wish& wish) {
    switch (wish.kind) {
      case Want::kNone:
        return std::nullopt;
      case Want::kQuit:
        return 0;
      case Want::kOpen:
        Open(wish.namespace_name, wish.name);
        return std::nullopt;
      case Want::kClose:
        state_.view.reset();
        log_.reset();
        feed_.LookAt(std::nullopt);
        return std::nullopt;
      case Want::kLogs:
        return Foreground(wish, {"logs", wish.name, "--all", "--follow"});
      case Want::kShell:
        return Foreground(wish, {"attach", wish.name});
      case Want::kStacks:
        return Foreground(wish, {"stacks", wish.name});
      case Want::kExplain:
        return Foreground(wish, {"explain", wish.name});
      case Want::kReport:
        return Foreground(wish, {"report", wish.name});
      case Want::kStop:
        return Foreground(wish, {"suspend", wish.name});
      case Want::kResume:
        return Foreground(wish, {"resume", wish.name});
    }
    return std::nullopt;
  }

  // Runs another command of this program. The exit code if a signal meanwhile ends `watch`.
  std::optional<int> Foreground(const Wish& wish, std::vector<std::string> words) {
    const std::string line = fmt::format("{} {} {}", context_.program, words[0], wish.name);
    terminal_.Suspend();
    Terminal::Write(fmt::format("$ {}\n", line));
    process::SpawnOptions program;
    program.path = self_;
    program.argv = Command(wish.namespace_name, std::move(words));
    program.env = Environment();
    program.fds = {{STDIN_FILENO, STDIN_FILENO},
                   {STDOUT_FILENO, STDOUT_FILENO},
                   {STDERR_FILENO, STDERR_FILENO}};
    const auto ended = RunInForeground(program, signals_.get());
    if (ended && *ended) return 128 + **ended;
    terminal_.Resume();
    shown_ = cli::Screen(0, 0);
    state_.said = ended ? "back from " + line : ended.error().message;
    return std::nullopt;
  }

  const arena::Context& context_;
  const std::string self_;
  Feed& feed_;
  Terminal terminal_;
  const base::Fd signals_;
  State state_;
  KeyReader keys_;
  std::optional<LogPipe> log_;
  cli::Screen shown_{0, 0};
};

base::Result<int> RunWatch(arena::Context& context, const std::string& self, bool all_namespaces,
                           const cli::Invocation& call) {
  // Before the first thread, which would get the signals otherwise.
  TRY_ASSIGN(base::Fd signals,
             process::OpenSignalFd({SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH, SIGTSTP, SIGCONT}));
  TRY_ASSIGN(cluster::Client * client, context.connect(context));
  const std::string namespace_name = all_namespaces ? "" : context.Namespace();
  if (!call.args.empty()) {
    TRY(arena::FindJob(*client, context, context.Namespace(), call.args[0]));
  }
  TRY_ASSIGN(Terminal terminal, Terminal::Take());
  TRY_ASSIGN(Feed* const feed, Feed::Start(*client, context, namespace_name));
  int code = 0;
  {
    Watching watching(context, self, *feed, std::move(terminal), std::move(signals));
    if (!call.args.empty()) {
      watching.Open(context.Namespace(), call.args[0]);
      watching.OnlyThis();
    }
    code = watching.Run();
  }
  // Its threads still use the client, so it must not be destroyed.
  ::_exit(code);
}

}  // namespace

void AddWatch(cli::Command& root, arena::Context& context, const std::string& self) {
  cli::Command& verb =
      root.Add("watch [JOB]", "Watch the jobs, or one of them, on the whole terminal")
          .Args(cli::MaxArgs(1))
          .Help("watch/watch", context.program);
  auto all_namespaces = std::make_shared<bool>(false);
  verb.flags().Bool(all_namespaces.get(), "all-namespaces", false, "in every namespace").Short('A');
  verb.Check([&context](cli::Invocation&) -> base::Status {
    if (::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1) return {};
    return base::Fail(base::Code::kInvalidArgument,
                      fmt::format("watch needs a terminal: `{} list --watch` prints what changes",
                                  context.program));
  });
  arena::CompleteOneJob(verb, context);
  verb.Run([all_namespaces, self, &context](cli::Invocation& call) {
    return RunWatch(context, self, *all_namespaces, call);
  });
}

}  // namespace watch
