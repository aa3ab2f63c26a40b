#include "ads/run/images/container_tool.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "base/fd.h"
#include "process/spawn.h"

namespace ads {
namespace {

base::Error ToolFailure(std::string_view what, const std::string& name, int code) {
  return {base::Code::kInternal,
          fmt::format("RuntimeError: {} ({} ended with exit code {})", what, name, code), 0};
}

}  // namespace

std::vector<std::string> BuildArgv(const std::string& tool, const ImageConfig& image,
                                   const base::Environment& environment) {
  std::vector<std::string> argv = {
      tool, "build",       "--build-arg", "CODE_DIR=" + image.source_folder,
      "-t", image.Image(), "-f",          image.dockerfile};
  for (const char* name : {"no_proxy", "http_proxy", "https_proxy"}) {
    if (const auto value = environment.Get(name)) {
      argv.insert(argv.end(), {"--build-arg", fmt::format("{}={}", name, *value)});
    }
  }
  for (const std::string& argument : image.build_args) {
    argv.insert(argv.end(), {"--build-arg", argument});
  }
  argv.emplace_back(".");
  return argv;
}

base::Result<ContainerTool> ContainerTool::Find(const base::Environment& environment, int to) {
  for (const char* name : {"docker", "podman", "buildah"}) {
    const auto path = process::FindProgram(name, environment.GetOr("PATH", "/usr/bin:/bin"));
    if (path) return ContainerTool(environment, name, *path, to);
  }
  return base::Fail(base::Code::kNotFound,
                    "RuntimeError: docker, podman and buildah are not on PATH; install one, or "
                    "give --nobuild for an image that is there already");
}

base::Result<int> ContainerTool::Run(const std::vector<std::string>& argv, int to) const {
  process::SpawnOptions options;
  options.path = path_;
  options.argv = argv;
  for (const auto& [name, value] : environment_.values()) {
    options.env.push_back(fmt::format("{}={}", name, value));
  }
  base::Fd nowhere;
  if (to < 0) {
    nowhere.Reset(::open("/dev/null", O_WRONLY | O_CLOEXEC));
    to = nowhere.get();
  }
  options.fds = {{STDIN_FILENO, 0}, {to, 1}, {to, 2}};
  TRY_ASSIGN(const pid_t pid, process::Spawn(options));
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) return base::Fail(base::Errno(errno, "wait for " + name_));
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

base::Status ContainerTool::Build(const ImageConfig& image) const {
  TRY_ASSIGN(const int code, Run(BuildArgv(name_, image, environment_), to_));
  if (code == 0) return {};
  return base::Fail(ToolFailure("Docker build failed.", name_, code));
}

base::Status ContainerTool::Push(const std::string& image) const {
  TRY_ASSIGN(const int code, Run({name_, "push", image}, to_));
  if (code == 0) return {};
  base::Error error = ToolFailure("Docker push failed.", name_, code);
  error.message += fmt::format("; you may have to `{} login` to the registry", name_);
  return base::Fail(std::move(error));
}

base::Status ContainerTool::Tag(const std::string& image, const std::string& as) const {
  TRY_ASSIGN(const int code, Run({name_, "tag", image, as}, to_));
  if (code == 0) return {};
  return base::Fail(ToolFailure(fmt::format("{} tag failed.", name_), name_, code));
}

base::Result<bool> ContainerTool::IsInRegistry(const std::string& image) const {
  TRY_ASSIGN(const int code, Run({name_, "manifest", "inspect", image}, -1));
  return code == 0;
}

}  // namespace ads
