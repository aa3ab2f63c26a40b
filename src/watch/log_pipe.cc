#include "watch/log_pipe.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "process/spawn.h"

namespace watch {
namespace {

constexpr size_t kAtOnce = 256 << 10;
constexpr size_t kLongestLine = 4096;  // no screen shows more

}  // namespace

base::Result<LogPipe> LogPipe::Start(const std::string& path, std::vector<std::string> argv,
                                     const std::vector<std::string>& environment) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return base::Fail(base::Errno(errno, "make a pipe"));
  LogPipe pipe;
  pipe.fd_ = base::Fd(ends[0]);
  const base::Fd other(ends[1]);
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  const base::Fd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  process::SpawnOptions options;
  options.path = path;
  options.argv = std::move(argv);
  options.env = environment;
  options.fds = {{null.get(), STDIN_FILENO}, {ends[1], STDOUT_FILENO}, {ends[1], STDERR_FILENO}};
  options.group = process::SpawnOptions::Group::kProcessGroup;
  options.dies_with_parent = true;
  TRY_ASSIGN(pipe.pid_, process::Spawn(options));
  return pipe;
}

LogPipe::LogPipe(LogPipe&& other) noexcept
    : fd_(std::move(other.fd_)),
      pid_(std::exchange(other.pid_, 0)),
      rest_(std::move(other.rest_)) {}

LogPipe& LogPipe::operator=(LogPipe&& other) noexcept {
  if (this == &other) return *this;
  End();
  fd_ = std::move(other.fd_);
  pid_ = std::exchange(other.pid_, 0);
  rest_ = std::move(other.rest_);
  return *this;
}

LogPipe::~LogPipe() { End(); }

void LogPipe::End() {
  if (pid_ == 0) return;
  ::kill(pid_, SIGKILL);  // it has nothing to clean up
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  pid_ = 0;
}

std::vector<std::string> LogPipe::Read() {
  std::vector<std::string> lines;
  std::array<char, 65536> buffer{};
  for (size_t read = 0; fd_ && read < kAtOnce;) {
    const ssize_t count = ::read(fd_.get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) break;
    if (count == 0) {
      fd_ = base::Fd();
      break;
    }
    read += static_cast<size_t>(count);
    for (const char c : std::string_view(buffer.data(), static_cast<size_t>(count))) {
      if (c == '\n') {
        lines.push_back(std::exchange(rest_, {}));
      } else if (c == '\r') {
        rest_.clear();  // overwritten by what follows
      } else if (rest_.size() < kLongestLine) {
        rest_ += c;
      }
    }
  }
  return lines;
}

}  // namespace watch
