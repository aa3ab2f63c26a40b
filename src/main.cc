// The one binary: dispatch by the name it was called under and by sub-command.
#include <signal.h>
#include <unistd.h>

#include <condition_variable>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "arena/app.h"
#include "base/clock.h"
#include "base/environment.h"
#include "base/log.h"
#include "cli/command.h"

namespace {

constexpr std::string_view kArena = "arena";

std::string_view BaseName(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

void Pause(base::Duration duration) {
  std::mutex mutex;
  std::condition_variable never;
  std::unique_lock lock(mutex);
  never.wait_for(lock, duration, [] { return false; });
}

void ExitInterrupted(int) { ::_exit(cli::kExitInterrupted); }

base::Result<cluster::Client*> Connect(arena::Context&) {
  return base::Fail(base::Code::kUnavailable, "no cluster is wired in");
}

int RunCommandLine(std::string program, const std::vector<std::string>& args) {
  const bool is_arena = program == kArena;
  arena::Context context{.environment = base::Environment::OfProcess(),
                         .clock = base::SystemClock(),
                         .program = std::move(program),
                         .flags = {},
                         .connect = Connect,
                         .cluster_is_this_machine = false,
                         .cluster_namespace = "",
                         .user_name = "",
                         .pause = Pause};
  cli::Command root(context.program, "muster submits, runs and watches distributed PyTorch jobs");
  root.Version(context.program + " v" MUSTER_VERSION);
  arena::AddVerbs(root, context);
  // >>> AddClusterCommands(root, ...): up, down, cluster go here.

  cli::FdOutput out(STDOUT_FILENO);
  cli::FdOutput err(STDERR_FILENO);
  const cli::Outcome outcome = cli::Execute(root, args, out, err);
  if (outcome.error) base::LogError("{}", outcome.error->message);
  // Arena knows 0 and 1 only.
  return is_arena && outcome.exit_code != 0 ? cli::kExitFailure : outcome.exit_code;
}

}  // namespace

int main(int argc, char** argv) {
  // >>> daemon and shim are dispatched here, before anything is set up.

  const bool is_arena = BaseName(argv[0]) == kArena;
  if (!is_arena) ::signal(SIGINT, ExitInterrupted);
  return RunCommandLine(is_arena ? "arena" : "muster", {argv + 1, argv + argc});
}
