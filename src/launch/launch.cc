#include "launch/launch.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "base/clock.h"
#include "base/environment.h"
#include "base/log.h"
#include "launch/agent/agent.h"
#include "launch/failure/report_file.h"
#include "launch/flags/completion.h"
#include "launch/flags/flags.h"
#include "launch/flags/options.h"
#include "launch/shim/python_shim.h"
#include "launch/shim/warm_keeper.h"
#include "launch/shim/warm_python.h"
#include "launch/workers/guardian.h"
#include "launch/workers/worker_command.h"
#include "warm/broker.h"

namespace launch {
namespace {

constexpr int kUsageExit = 2;
constexpr std::string_view kShimName = "muster python-shim";
constexpr std::string_view kModuleName = "torch.distributed.launch";

void Print(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written <= 0) return;
    text.remove_prefix(static_cast<size_t>(written));
  }
}

// Otherwise the launcher's own files would get the numbers of streams that its caller has closed,
// and the workers would read and write those.
void OpenClosedStreams() {
  for (const int fd : {0, 1, 2}) {
    if (::fcntl(fd, F_GETFD) < 0) (void)::open("/dev/null", fd == 0 ? O_RDONLY : O_WRONLY);
  }
}

int RefuseUsage(const std::string& name, const std::string& message) {
  Print(2, fmt::format("{}{}: error: {}\n", UsageLine(name), name, message));
  return kUsageExit;
}

int RefuseValue(const std::string& name, const base::Environment& environment,
                const std::string& message) {
  Print(2, fmt::format("{}: error: {}\n", name, message));
  RecordOwnError(environment, message, base::SystemClock().Now());
  return 1;
}

// The folder of the program, without following links: the bin of an environment has its python
// beside it.
std::string DirectoryOf(const std::string& argv0) {
  std::error_code failed;
  if (argv0.find('/') != std::string::npos) {
    return std::filesystem::absolute(argv0, failed).parent_path().string();
  }
  return std::filesystem::read_symlink("/proc/self/exe", failed).parent_path().string();
}

std::vector<int> SignalsForAgent(const Options& options) {
  std::vector<int> signals = options.handled_signals;
  for (const int signal : {SIGUSR1, SIGUSR2}) {
    if (std::find(signals.begin(), signals.end(), signal) == signals.end()) {
      signals.push_back(signal);
    }
  }
  return signals;
}

}  // namespace

int LaunchMain(const std::string& argv0, const std::vector<std::string>& args) {
  OpenClosedStreams();
  std::string name = std::filesystem::path(argv0).filename().string();
  if (name.empty()) name = "muster-launch";
  const base::Environment environment = base::Environment::OfProcess();
  if (name == kShimName) return PythonShimMain(args, environment);
  if (name == warm::kBrokerName) return warm::BrokerMain(args);
  if (name == kWarmPythonName) return WarmPythonMain(args, environment);
  std::vector<std::string> words = args;
  if (name == kModuleName) words.insert(words.begin(), "--torch-distributed-launch");

  const auto line = ParseCommandLine(words, environment);
  if (!line) return RefuseUsage(name, line.error().message);
  if (line->wants_help) {
    Print(1, HelpText(name));
    return 0;
  }
  if (line->wants_version) {
    Print(1, fmt::format("{} v{}\n", name, MUSTER_VERSION));
    return 0;
  }
  if (line->IsGiven("print-completion")) {
    Print(1, CompletionScript(line->Text("print-completion"), name));
    return 0;
  }
  auto options = MakeOptions(*line, environment);
  if (!options) return RefuseValue(name, environment, options.error().message);
  auto executable = FindProgramOf(*options, environment, DirectoryOf(argv0));
  if (!executable) return RefuseValue(name, environment, executable.error().message);

  Keeper keeper;
  if (options->is_warm) {
    auto found = KeeperFor(*options, environment, *executable);
    if (found) {
      keeper = std::move(*found);
    } else {
      options->warnings.push_back(
          fmt::format("warm start: {}; the workers are executed", found.error().message));
    }
  }
  const auto signals = SignalsForAgent(*options);
  const auto run_agent = [&](AgentSide side) {
    auto made = std::make_unique<Agent>(std::move(*options), environment, std::move(*executable),
                                        std::move(side), std::move(keeper), base::SystemClock());
    const int code = made->Run();
    // The process ends here. Its output thread may be in a write to a reader that never reads.
    (void)made.release();
    return code;
  };
  const auto exit_code = RunGuarded(signals, run_agent, &keeper.connection, keeper.pid);
  if (!exit_code) return RefuseValue(name, environment, exit_code.error().message);
  return *exit_code;
}

}  // namespace launch
