#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/clock.h"
#include "base/fd.h"
#include "base/strings.h"
#include "cluster/kubeconfig/exec_plugin.h"
#include "process/pidfd.h"
#include "process/spawn.h"

namespace cluster {
namespace {

using base::Code;
using base::Fail;

constexpr size_t kMaxOutput = 1 << 20;
constexpr std::chrono::seconds kPatience{60};
constexpr std::chrono::seconds kLoginPatience{600};  // the user types, or clicks in a browser
constexpr std::string_view kDefaultPath =
    "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

// Several lines as one.
std::string OneLine(std::string_view text) {
  std::string line;
  for (const std::string& part : base::Split(text, '\n')) {
    const std::string_view words = base::Trim(part);
    if (!words.empty()) line += (line.empty() ? "" : " ") + std::string(words);
  }
  return line;
}

std::vector<std::string> PluginEnvironment(const ExecPlugin& plugin, const std::string& exec_info,
                                           base::Environment environment) {
  for (const auto& [name, value] : plugin.env) environment.Set(name, value);
  environment.Set("KUBERNETES_EXEC_INFO", exec_info);
  return environment.AsList();
}

// Reads everything until all writers have closed.
base::Result<std::string> ReadAll(int reader, std::chrono::seconds patience) {
  base::Clock& clock = base::SystemClock();
  const auto deadline = clock.Steady() + patience;
  std::string output;
  char buffer[16384];
  while (true) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - clock.Steady());
    if (!process::WaitReadable(reader, std::max(left, std::chrono::milliseconds(0)))) {
      return Fail(PluginRefusal(fmt::format("it did not end within {} seconds", patience.count())));
    }
    const ssize_t count = ::read(reader, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Fail(base::Errno(errno, "read its output"));
    if (count == 0) return output;
    output.append(buffer, static_cast<size_t>(count));
    if (output.size() > kMaxOutput) return Fail(PluginRefusal("it prints without end"));
  }
}

int Reap(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

}  // namespace

base::Result<std::string> RunExecPlugin(const ExecPlugin& plugin, const std::string& exec_info,
                                        bool is_interactive, const base::Environment& environment) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return Fail(base::Errno(errno, "pipe"));
  const base::Fd reader(ends[0]);
  base::Fd writer(ends[1]);
  base::Fd nothing;
  if (!is_interactive) {
    nothing.Reset(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    if (!nothing) return Fail(base::Errno(errno, "open /dev/null"));
  }
  process::SpawnOptions options;
  options.env = PluginEnvironment(plugin, exec_info, environment);
  auto program = process::FindProgram(plugin.command, environment.GetOr("PATH", kDefaultPath));
  if (!program || ::access(program->c_str(), X_OK) != 0) {
    const std::string hint = OneLine(plugin.install_hint);
    return Fail(PluginRefusal(
        fmt::format("it is not there, or not executable{}{}", hint.empty() ? "" : ": ", hint)));
  }
  options.path = std::move(*program);
  options.argv = {plugin.command};
  options.argv.insert(options.argv.end(), plugin.args.begin(), plugin.args.end());
  options.fds = {{is_interactive ? 0 : nothing.get(), 0}, {writer.get(), 1}, {2, 2}};
  // In our process group, so that it may read from the terminal and Ctrl-C ends it, too.
  options.dies_with_parent = true;
  TRY_ASSIGN(const pid_t pid, process::Spawn(options));
  writer.Reset();
  auto output = ReadAll(reader.get(), is_interactive ? kLoginPatience : kPatience);
  if (!output) ::kill(pid, SIGKILL);
  const int status = Reap(pid);
  if (!output) return output;
  if (WIFSIGNALED(status)) {
    return Fail(PluginRefusal(fmt::format("it was ended by signal {}", WTERMSIG(status))));
  }
  if (WEXITSTATUS(status) != 0) {
    return Fail(PluginRefusal(fmt::format("it failed with exit code {}", WEXITSTATUS(status))));
  }
  return output;
}

}  // namespace cluster
