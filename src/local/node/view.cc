#include "local/node/view.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include "base/fd.h"
#include "base/file.h"
#include "base/strings.h"
#include "local/node/namespace_limits.h"
#include "local/node/view_plan.h"

namespace local::node {
namespace {

constexpr const char* kOldRoot = "/.muster-host";
constexpr const char* kHostsFile = "hosts";  // in the pod's directory

class RealHost final : public HostTree {
 public:
  HostKind Kind(const std::string& path) const override {
    struct stat info{};
    if (::lstat(path.c_str(), &info) != 0) {
      return errno == ENOENT || errno == ENOTDIR ? HostKind::kAbsent : HostKind::kForbidden;
    }
    return S_ISDIR(info.st_mode)   ? HostKind::kDirectory
           : S_ISLNK(info.st_mode) ? HostKind::kSymlink
                                   : HostKind::kFile;
  }
  std::string LinkTarget(const std::string& path) const override {
    std::string target(4096, '\0');
    const ssize_t count = ::readlink(path.c_str(), target.data(), target.size());
    target.resize(count < 0 ? 0 : static_cast<size_t>(count));
    return target;
  }
  bool CanSearch(const std::string& path) const override {
    return ::access(path.c_str(), X_OK) == 0;
  }
  std::vector<HostEntry> List(const std::string& path) const override {
    std::vector<HostEntry> entries;
    const std::unique_ptr<DIR, int (*)(DIR*)> dir(::opendir(path.c_str()), ::closedir);
    if (!dir) return entries;
    while (const dirent* const item = ::readdir(dir.get())) {
      const std::string name = item->d_name;
      if (name == "." || name == "..") continue;
      const std::string full = path == "/" ? "/" + name : path + "/" + name;
      const HostKind kind = item->d_type == DT_DIR ? HostKind::kDirectory
                            : item->d_type == DT_LNK || item->d_type == DT_UNKNOWN
                                ? Kind(full)
                                : HostKind::kFile;
      if (kind == HostKind::kAbsent || kind == HostKind::kForbidden) continue;
      entries.push_back({name, kind, kind == HostKind::kSymlink ? LinkTarget(full) : ""});
    }
    return entries;
  }
};

std::vector<std::string> WorkingDirectories(const PodSpec& spec) {
  std::vector<std::string> directories;
  for (const auto* const containers : {&spec.init_containers, &spec.containers}) {
    for (const ContainerSpec& container : *containers) {
      if (container.cwd.empty()) continue;
      if (std::find(directories.begin(), directories.end(), container.cwd) == directories.end()) {
        directories.push_back(container.cwd);
      }
    }
  }
  return directories;
}

std::string RunningHostName() {
  char name[256] = "";
  ::gethostname(name, sizeof name - 1);
  return name;
}

std::string HostNameOf(const PodSpec& spec) {
  std::string name = spec.hostname.substr(0, kMaxHostName);
  while (name.ends_with('-') || name.ends_with('.')) name.pop_back();
  return name;
}

// The machine's /etc/hosts and the pod's names.
std::string HostsContent(const PodSpec& spec) {
  std::string content = base::ReadFile("/etc/hosts").value_or("127.0.0.1 localhost\n");
  if (!content.empty() && content.back() != '\n') content += '\n';
  bool has_own_name = false;
  for (const auto& [name, address] : spec.hosts) {
    content += fmt::format("{}\t{}\n", address, name);
    has_own_name = has_own_name || name == spec.hostname;
  }
  // Programs look their own name up (gloo does, to choose its device).
  if (!has_own_name && !spec.hostname.empty()) {
    content += fmt::format("127.0.0.1\t{}\n", HostNameOf(spec));
  }
  return content;
}

base::Status WriteMap(const char* path, const std::string& content) {
  const base::Fd fd(::open(path, O_WRONLY | O_CLOEXEC));
  if (!fd || ::write(fd.get(), content.data(), content.size()) < 0) {
    return base::Fail(ExplainForbidden(fmt::format("write {}", path), errno, ReadLimits()));
  }
  return {};
}

base::Status EnterUserNamespace() {
  const uid_t uid = ::geteuid();
  const gid_t gid = ::getegid();
  if (::unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWUTS) != 0) {
    return base::Fail(ExplainForbidden("make a user namespace", errno, ReadLimits()));
  }
  TRY(WriteMap("/proc/self/setgroups", "deny"));
  TRY(WriteMap("/proc/self/uid_map", fmt::format("{0} {0} 1", uid)));
  return WriteMap("/proc/self/gid_map", fmt::format("{0} {0} 1", gid));
}

base::Status EnterNamespaces() {
  if (::geteuid() == 0 && ::unshare(CLONE_NEWNS | CLONE_NEWUTS) == 0) return {};
  // Root without CAP_SYS_ADMIN, in a container, may still have this way.
  return EnterUserNamespace();
}

base::Status MountTmpfs(const std::string& target) {
  if (::mount("tmpfs", target.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755") != 0) {
    const std::string what = "mount a tmpfs on " + target;
    if (errno == EPERM || errno == EACCES) {
      return base::Fail(ExplainForbidden(what, errno, ReadLimits()));
    }
    return base::Fail(base::Errno(errno, what));
  }
  return {};
}

// As /dev/shm is: for every user, programs' files of any kind but devices.
base::Status MountMemory(const ViewStep& step) {
  std::string options = "mode=1777";
  if (step.memory > 0) options += fmt::format(",size={}", step.memory);
  if (::mount("tmpfs", step.target.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, options.c_str()) != 0) {
    return base::Fail(base::Errno(errno, "mount memory on " + step.target));
  }
  return {};
}

base::Status MakeReadOnly(const std::string& target) {
#ifdef SYS_mount_setattr
  mount_attr attributes{};
  attributes.attr_set = MOUNT_ATTR_RDONLY;
  if (::syscall(SYS_mount_setattr, AT_FDCWD, target.c_str(), AT_RECURSIVE, &attributes,
                sizeof attributes) == 0) {
    return {};
  }
#endif
  // Before Linux 5.12. Flags that the machine set are locked: they have to be said again.
  struct statvfs info{};
  unsigned long flags = MS_BIND | MS_REMOUNT | MS_RDONLY;
  if (::statvfs(target.c_str(), &info) == 0) {
    flags |=
        info.f_flag & (ST_NOSUID | ST_NODEV | ST_NOEXEC | ST_NOATIME | ST_NODIRATIME | ST_RELATIME);
  }
  if (::mount(nullptr, target.c_str(), nullptr, flags, nullptr) != 0) {
    return base::Fail(base::Errno(errno, "make " + target + " read-only"));
  }
  return {};
}

base::Status Bind(const ViewStep& step) {
  const std::string source = kOldRoot + step.source;
  if (::mount(source.c_str(), step.target.c_str(), nullptr, MS_BIND | MS_REC, nullptr) != 0) {
    return base::Fail(base::Errno(errno, fmt::format("mount {} on {}", step.source, step.target)));
  }
  return step.read_only ? MakeReadOnly(step.target) : base::Status();
}

base::Status CarryOut(const ViewStep& step) {
  const char* const target = step.target.c_str();
  switch (step.kind) {
    case ViewStep::Kind::kTmpfs:
      return MountTmpfs(step.target);
    case ViewStep::Kind::kDirectory:
      if (::mkdir(target, 0755) == 0 || errno == EEXIST) return {};
      return base::Fail(base::Errno(errno, "make directory " + step.target));
    case ViewStep::Kind::kFile: {
      const base::Fd fd(::open(target, O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
      if (fd) return {};
      return base::Fail(base::Errno(errno, "make file " + step.target));
    }
    case ViewStep::Kind::kSymlink:
      if (::symlink(step.source.c_str(), target) == 0) return {};
      return base::Fail(base::Errno(errno, "make link " + step.target));
    case ViewStep::Kind::kBind:
      return Bind(step);
    case ViewStep::Kind::kMemory:
      return MountMemory(step);
  }
  return {};
}

base::Status BuildRoot(const std::string& base_directory, const std::vector<ViewStep>& steps) {
  // The machine's later mounts and unmounts come in, ours do not go out.
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr) != 0) {
    return base::Fail(ExplainForbidden("detach from the machine's mounts", errno, ReadLimits()));
  }
  TRY(MountTmpfs(base_directory));
  const std::string old_root = base_directory + kOldRoot;
  if (::mkdir(old_root.c_str(), 0700) != 0) {
    return base::Fail(base::Errno(errno, "make directory " + old_root));
  }
  if (::syscall(SYS_pivot_root, base_directory.c_str(), old_root.c_str()) != 0) {
    return base::Fail(base::Errno(errno, "pivot_root " + base_directory));
  }
  for (const ViewStep& step : steps) {
    const base::Status done = CarryOut(step);
    if (!done && !step.is_optional) return done;
  }
  if (::umount2(kOldRoot, MNT_DETACH) != 0) {
    return base::Fail(base::Errno(errno, "detach the old root"));
  }
  ::rmdir(kOldRoot);
  return {};
}

base::Result<std::vector<Mount>> ResolvedMounts(const PodSpec& spec) {
  std::vector<Mount> mounts = spec.mounts;
  if (!spec.hosts.empty() || !spec.hostname.empty()) {
    TRY(base::WriteFileAtomic(kHostsFile, HostsContent(spec), 0644, base::Durability::kNone));
    mounts.push_back({spec.directory + "/" + kHostsFile, "/etc/hosts", false});
  }
  for (Mount& mount : mounts) {
    if (mount.memory) continue;
    // The code directory is the pod's own and may not be there yet.
    if (mount.source == spec.directory + "/code") TRY(base::MakeDirs(mount.source, 0755));
    const std::unique_ptr<char, decltype(&::free)> real(::realpath(mount.source.c_str(), nullptr),
                                                        ::free);
    if (!real) {
      return base::Fail(
          base::Errno(errno, fmt::format("mount {} on {}", mount.source, mount.target)));
    }
    mount.source = real.get();
  }
  return mounts;
}

}  // namespace

bool NeedsView(const PodSpec& spec) {
  if (!spec.mounts.empty() || !spec.hosts.empty()) return true;
  if (!spec.hostname.empty() && HostNameOf(spec) != RunningHostName()) return true;
  const std::vector<std::string> directories = WorkingDirectories(spec);
  return std::any_of(directories.begin(), directories.end(),
                     [](const std::string& path) { return ::access(path.c_str(), X_OK) != 0; });
}

base::Status EnterView(const PodSpec& spec) {
  TRY_ASSIGN(const std::vector<Mount> mounts, ResolvedMounts(spec));
  TRY_ASSIGN(const std::vector<ViewStep> steps,
             PlanView(mounts, WorkingDirectories(spec), spec.directory, RealHost()));
  TRY(EnterNamespaces());
  // What the view makes belongs to the pod's user, but is no secret of the shim's.
  const mode_t mask = ::umask(0022);
  base::Status built = BuildRoot(spec.directory, steps);
  ::umask(mask);
  TRY(std::move(built));
  const std::string name = HostNameOf(spec);
  if (!name.empty() && ::sethostname(name.data(), name.size()) != 0) {
    return base::Fail(base::Errno(errno, "set the host name"));
  }
  return {};
}

}  // namespace local::node
