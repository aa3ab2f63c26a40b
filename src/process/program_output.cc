#include "process/program_output.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "base/fd.h"
#include "process/spawn.h"

namespace process {
namespace {

struct Pipe {
  base::Fd read;
  base::Fd write;
};

base::Result<Pipe> MakePipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return base::Fail(base::Errno(errno, "make a pipe"));
  return Pipe{base::Fd(ends[0]), base::Fd(ends[1])};
}

// Closes `fd` at the end of its data.
void ReadSome(base::Fd& fd, std::string& to) {
  char buffer[64 << 10];
  const ssize_t count = ::read(fd.get(), buffer, sizeof buffer);
  if (count < 0 && errno == EINTR) return;
  if (count <= 0) {
    fd.Reset();
  } else {
    to.append(buffer, static_cast<size_t>(count));
  }
}

int ExitCodeOf(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

base::Result<ProgramOutput> OutputOf(const std::vector<std::string>& argv,
                                     const base::Environment& environment) {
  SpawnOptions options;
  options.argv = argv;
  TRY_ASSIGN(options.path, FindProgram(argv.front(), environment.GetOr("PATH", "/usr/bin:/bin")));
  options.env = environment.AsList();
  const base::Fd nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  TRY_ASSIGN(Pipe out, MakePipe());
  TRY_ASSIGN(Pipe err, MakePipe());
  options.fds = {{nothing.get(), STDIN_FILENO},
                 {out.write.get(), STDOUT_FILENO},
                 {err.write.get(), STDERR_FILENO}};
  TRY_ASSIGN(const pid_t pid, Spawn(options));
  out.write.Reset();
  err.write.Reset();
  ProgramOutput output;
  while (out.read || err.read) {
    pollfd waited[] = {{out.read.get(), POLLIN, 0}, {err.read.get(), POLLIN, 0}};
    if (::poll(waited, 2, -1) < 0 && errno != EINTR) break;
    if (out.read && waited[0].revents != 0) ReadSome(out.read, output.out);
    if (err.read && waited[1].revents != 0) ReadSome(err.read, output.err);
  }
  output.exit_code = ExitCodeOf(pid);
  return output;
}

}  // namespace process
