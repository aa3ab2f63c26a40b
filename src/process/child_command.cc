#include "process/child_command.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "base/clock.h"
#include "base/fd.h"
#include "process/pidfd.h"
#include "process/spawn.h"

namespace process {
namespace {

constexpr size_t kMaxLine = 64 << 10;
constexpr std::chrono::hours kNoTimeout{24 * 365};

class LineBuffer {
 public:
  explicit LineBuffer(const std::function<void(std::string_view)>& on_output)
      : on_output_(on_output) {}
  void Append(std::string_view text) {
    pending_ += text;
    const size_t newline = pending_.rfind('\n');
    if (newline == std::string::npos && pending_.size() < kMaxLine) return;
    const size_t count = newline == std::string::npos ? pending_.size() : newline + 1;
    on_output_(std::string_view(pending_).substr(0, count));
    pending_.erase(0, count);
  }
  void End() {
    if (!pending_.empty()) on_output_(pending_ + "\n");
    pending_.clear();
  }

 private:
  const std::function<void(std::string_view)>& on_output_;
  std::string pending_;
};

}  // namespace

base::Result<int> RunToEnd(const ChildCommand& command,
                           const std::function<void(std::string_view)>& on_output) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return base::Fail(base::Errno(errno, "pipe"));
  const base::Fd reader(ends[0]);
  base::Fd writer(ends[1]);
  SpawnOptions options;
  TRY_ASSIGN(options.path, FindProgram(command.argv[0], PathOf(command.env)));
  options.argv = command.argv;
  options.env = command.env;
  options.cwd = command.cwd;
  options.fds = {{0, 0}, {writer.get(), 1}, {writer.get(), 2}};
  options.group = SpawnOptions::Group::kProcessGroup;
  options.dies_with_parent = true;
  TRY_ASSIGN(const pid_t pid, Spawn(options));
  writer.Reset();

  base::Clock& clock = base::SystemClock();
  const std::chrono::seconds timeout = command.timeout.count() > 0 ? command.timeout : kNoTimeout;
  const auto deadline = clock.Steady() + timeout;
  LineBuffer lines(on_output);
  char buffer[16384];
  bool is_late = false;
  while (true) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - clock.Steady());
    if (!WaitReadable(reader.get(), left)) {
      is_late = true;
      ::kill(-pid, SIGKILL);
      break;
    }
    const ssize_t count = ::read(reader.get(), buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    lines.Append({buffer, static_cast<size_t>(count)});
  }
  lines.End();
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (is_late) {
    return base::Fail(base::Code::kTimeout, fmt::format("{} did not end within {} seconds",
                                                        command.argv[0], command.timeout.count()));
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace process
