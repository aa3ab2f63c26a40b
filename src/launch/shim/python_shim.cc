#include "launch/shim/python_shim.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/fd.h"
#include "base/file.h"
#include "base/strings.h"
#include "launch/shim/warm_python.h"
#include "launch/workers/worker_command.h"
#include "process/spawn.h"

namespace launch {
namespace {

constexpr std::string_view kHelp =
    "usage: muster python-shim install|remove [--python PATH]\n"
    "\n"
    "install: python -m torch.distributed.run and torch.distributed.launch of this\n"
    "         interpreter start muster launch, with the same flags, also for programs\n"
    "         that call them as functions (accelerate launch, fabric run, notebooks)\n"
    "remove:  restores PyTorch's own modules\n"
    "\n"
    "It is two small files in the interpreter's site-packages (the user's where that\n"
    "is not writable). MUSTER_PYTHON_SHIM=off turns the shim off for one command.\n"
    "Pods of the embedded cluster have it without this: local.redirect_launch in\n"
    "config.yaml.\n";

constexpr const char* kModuleFile = "muster_launch_shim.py";
constexpr const char* kPathFile = "muster-launch-shim.pth";

base::Result<std::string> OwnPath() {
  std::array<char, 4096> path{};
  const ssize_t length = ::readlink("/proc/self/exe", path.data(), path.size());
  if (length < 0) return base::Fail(base::Errno(errno, "read /proc/self/exe"));
  return std::string(path.data(), static_cast<size_t>(length));
}

// What the interpreter prints.
base::Result<std::string> AskPython(const std::string& python, const std::string& program,
                                    const base::Environment& environment) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return base::Fail(base::Errno(errno, "pipe"));
  const base::Fd reader(ends[0]);
  base::Fd writer(ends[1]);
  process::SpawnOptions spawn;
  spawn.path = python;
  spawn.argv = {python, "-c", program};
  spawn.env = environment.AsList();
  spawn.fds = {{0, 0}, {writer.get(), 1}, {2, 2}};
  TRY_ASSIGN(const pid_t pid, process::Spawn(spawn));
  writer.Reset();
  std::string text;
  std::array<char, 4096> buffer{};
  ssize_t count = 0;
  while ((count = ::read(reader.get(), buffer.data(), buffer.size())) > 0) {
    text.append(buffer.data(), static_cast<size_t>(count));
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  if (status != 0) {
    return base::Fail(base::Code::kInternal, fmt::format("\"{}\" does not run", python));
  }
  return text;
}

// The folders in which the interpreter looks for .pth files, best first.
base::Result<std::vector<std::string>> SiteFolders(const std::string& python,
                                                   const base::Environment& environment) {
  TRY_ASSIGN(const std::string text,
             AskPython(python,
                       "import site, sysconfig\n"
                       "print('site:' + sysconfig.get_path('purelib'))\n"
                       "if site.ENABLE_USER_SITE: print('site:' + site.getusersitepackages())\n",
                       environment));
  // A sitecustomize may print lines of its own.
  constexpr std::string_view kMark = "site:";
  std::vector<std::string> folders;
  for (const std::string& line : base::Split(text, '\n')) {
    if (line.starts_with(kMark)) folders.push_back(line.substr(kMark.size()));
  }
  return folders;
}

base::Status WriteHook(const std::string& folder, const std::string& launcher) {
  TRY(base::MakeDirs(folder, 0755));
  TRY(base::WriteFileAtomic(folder + "/" + kModuleFile, HookText(launcher, false), 0644,
                            base::Durability::kNone));
  return base::WriteFileAtomic(folder + "/" + kPathFile, "import muster_launch_shim\n", 0644,
                               base::Durability::kNone);
}

base::Result<std::string> InstallShim(const std::string& python,
                                      const base::Environment& environment) {
  TRY_ASSIGN(const std::string launcher, OwnPath());
  TRY_ASSIGN(const auto folders, SiteFolders(python, environment));
  base::Status written = base::Fail(base::Code::kNotFound, "it has no site-packages");
  for (const std::string& folder : folders) {
    written = WriteHook(folder, launcher);
    if (written) return fmt::format("{}/{}", folder, kPathFile);
  }
  return base::Fail(written.error());
}

base::Result<std::string> RemoveShim(const std::string& python,
                                     const base::Environment& environment) {
  TRY_ASSIGN(const auto folders, SiteFolders(python, environment));
  std::string removed;
  for (const std::string& folder : folders) {
    for (const char* name : {kPathFile, kModuleFile}) {
      const std::string path = folder + "/" + name;
      if (::unlink(path.c_str()) == 0) {
        if (name == kPathFile) removed = path;
      } else if (errno != ENOENT) {
        return base::Fail(base::Errno(errno, fmt::format("remove \"{}\"", path)));
      }
    }
  }
  return removed;
}

base::Status LinkTo(const std::string& launcher, const std::string& link) {
  const std::string fresh = fmt::format("{}.{}", link, ::getpid());
  if (::symlink(launcher.c_str(), fresh.c_str()) != 0 ||
      ::rename(fresh.c_str(), link.c_str()) != 0) {
    return base::Fail(base::Errno(errno, fmt::format("link \"{}\"", link)));
  }
  return {};
}

base::Status MakePodFolder(const std::string& folder) {
  TRY_ASSIGN(const std::string launcher, OwnPath());
  TRY(base::MakeDirs(folder + "/bin", 0755));
  TRY(base::MakeDirs(folder + "/python", 0755));
  TRY(LinkTo(launcher, folder + "/bin/torchrun"));
  TRY(LinkTo(launcher, fmt::format("{}/{}", folder, kWarmPythonName)));
  return base::WriteFileAtomic(folder + "/python/sitecustomize.py", HookText(launcher, true), 0644,
                               base::Durability::kNone);
}

void Print(int fd, const std::string& text) {
  [[maybe_unused]] const ssize_t written = ::write(fd, text.data(), text.size());
}

int Refuse(const std::string& message, int code) {
  Print(2, fmt::format("muster python-shim: error: {}\n", message));
  return code;
}

}  // namespace

int PythonShimMain(const std::vector<std::string>& args, const base::Environment& environment) {
  std::string asked;
  std::vector<std::string> words;
  for (size_t i = 0; i < args.size(); ++i) {
    if (args[i] == "-h" || args[i] == "--help") {
      Print(1, std::string(kHelp));
      return 0;
    }
    if (args[i].starts_with("--python=")) {
      asked = args[i].substr(args[i].find('=') + 1);
    } else if (args[i] == "--python" && i + 1 < args.size()) {
      asked = args[++i];
    } else {
      words.push_back(args[i]);
    }
  }
  if (words.size() == 2 && words[0] == "pods") {
    const auto made = MakePodFolder(words[1]);
    return made ? 0 : Refuse(made.error().message, 1);
  }
  const bool is_known = !words.empty() && (words[0] == "install" || words[0] == "remove");
  if (is_known && words.size() > 1) {
    return Refuse(fmt::format("\"{}\" is not expected: --python names the interpreter", words[1]),
                  2);
  }
  if (!is_known) {
    return Refuse("needs install or remove; see muster python-shim --help", 2);
  }
  const auto python = FindPython(asked, environment, "/");
  if (!python) return Refuse(python.error().message, 1);
  const bool installs = words[0] == "install";
  const auto done = installs ? InstallShim(*python, environment) : RemoveShim(*python, environment);
  if (!done) return Refuse(done.error().message, 1);
  if (installs) {
    Print(1, fmt::format("installed {}\nundo with: muster python-shim remove --python {}\n", *done,
                         *python));
  } else {
    Print(1, done->empty() ? fmt::format("it is not installed in {}\n", *python)
                           : fmt::format("removed {}\n", *done));
  }
  return 0;
}

}  // namespace launch
