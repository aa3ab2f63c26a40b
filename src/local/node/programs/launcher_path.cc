#include "local/node/programs/launcher_path.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "process/spawn.h"

namespace local::node {

base::Result<LauncherPath> MakeLauncherPath(const std::string& launcher, const std::string& state,
                                            bool redirects_modules, bool is_warm) {
  LauncherPath path;
  if (::access(launcher.c_str(), X_OK) != 0) return path;
  const std::string folder = state + "/launch";
  process::SpawnOptions options;
  options.path = launcher;
  options.argv = {"muster python-shim", "pods", folder};
  options.fds = {{0, 0}, {1, 1}, {2, 2}};
  TRY_ASSIGN(const pid_t pid, process::Spawn(options));
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  // On a full disk, the folder of an earlier start is used.
  if (status != 0 && ::access((folder + "/bin").c_str(), F_OK) != 0) {
    return base::Fail(base::Code::kInternal,
                      fmt::format("\"{}\" could not make \"{}\"", launcher, folder));
  }
  if (is_warm) path.warm_python = folder + "/muster warm-python";
  path.programs = folder + "/bin";
  if (redirects_modules) path.modules = folder + "/python";
  return path;
}

}  // namespace local::node
