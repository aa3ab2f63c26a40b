#include "local/node/view/view.h"

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
#include "base/machine/host_name.h"
#include "base/strings.h"
#include "local/node/pod/pod_processes.h"
#include "local/node/view/namespace_limits.h"
#include "local/node/view/view_plan.h"

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

std::string HostNameOf(const PodSpec& spec) {
  std::string name = spec.hostname.substr(0, kMaxHostName);
  while (name.ends_with('-') || name.ends_with('.')) name.pop_back();
  return name;
}

// The machine's /etc/hosts with the pod's names added.
std::string HostsContent(const PodSpec& spec) {
  std::string content = base::ReadFile("/etc/hosts").value_or("127.0.0.1 localhost\n");
  if (!content.empty() && content.back() != '\n') content += '\n';
  bool has_own_name = false;
  for (const auto& [name, address] : spec.hosts) {
    content += fmt::format("{}\t{}\n", address, name);
    has_own_name = has_own_name || name == spec.hostname;
  }
  // Programs look up their own host name (gloo does, to choose its device).
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

// Maps the one user and group that the pod's programs ask for: whatever they become inside, they
// are this user outside.
base::Status EnterUserNamespace(const PodSpec& spec) {
  const uid_t uid = ::geteuid();
  const gid_t gid = ::getegid();
  const process::Rights* const rights =
      spec.containers.empty() ? nullptr : &spec.containers.front().rights;
  const uid_t inner_uid = rights != nullptr ? rights->user.value_or(uid) : uid;
  const gid_t inner_gid = rights != nullptr ? rights->group.value_or(gid) : gid;
  if (::unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWUTS) != 0) {
    return base::Fail(ExplainForbidden("make a user namespace", errno, ReadLimits()));
  }
  TRY(WriteMap("/proc/self/setgroups", "deny"));
  TRY(WriteMap("/proc/self/uid_map", fmt::format("{} {} 1", inner_uid, uid)));
  return WriteMap("/proc/self/gid_map", fmt::format("{} {} 1", inner_gid, gid));
}

base::Status EnterNamespaces(const PodSpec& spec) {
  if (::geteuid() == 0 && ::unshare(CLONE_NEWNS | CLONE_NEWUTS) == 0) return {};
  // Root without CAP_SYS_ADMIN, as in a container, can still do it this way.
  return EnterUserNamespace(spec);
}

base::Status MountTmpfs(const std::string& source, const std::string& target) {
  if (::mount(source.c_str(), target.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755") != 0) {
    const std::string what = "mount a tmpfs on " + target;
    if (errno == EPERM || errno == EACCES) {
      return base::Fail(ExplainForbidden(what, errno, ReadLimits()));
    }
    return base::Fail(base::Errno(errno, what));
  }
  return {};
}

// Like /dev/shm: for every user, and all files except devices.
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
  // Before Linux 5.12. Flags set by the machine are locked, so they must be repeated.
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

base::Status ApplyStep(const ViewStep& step) {
  const char* const target = step.target.c_str();
  switch (step.kind) {
    case ViewStep::Kind::kTmpfs:
      return MountTmpfs("tmpfs", step.target);
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

// Whether a read-only root includes the mount: everything that was not requested, except for the
// kernel's own file systems, which have rules of their own.
bool IsOfMachine(const ViewStep& step) {
  const bool is_left = step.target == "/proc" || step.target == "/sys" || step.target == "/dev" ||
                       step.target.starts_with("/dev/");
  return step.kind == ViewStep::Kind::kBind && step.is_optional && !is_left;
}

// Makes the view's own directories read-only, without their mounts.
base::Status FreezeOwn(const std::vector<ViewStep>& steps) {
  std::vector<std::string> own = {"/"};
  for (const ViewStep& step : steps) {
    if (step.kind == ViewStep::Kind::kTmpfs) own.push_back(step.target);
  }
  for (const std::string& target : own) {
    constexpr unsigned long kFlags = MS_BIND | MS_REMOUNT | MS_RDONLY | MS_NOSUID | MS_NODEV;
    if (::mount(nullptr, target.c_str(), nullptr, kFlags, nullptr) != 0) {
      return base::Fail(base::Errno(errno, "make " + target + " read-only"));
    }
  }
  return {};
}

base::Status BuildRoot(const PodSpec& spec, const std::vector<ViewStep>& steps) {
  const std::string& base_directory = spec.directory;
  // Later mounts and unmounts of the machine propagate into the view, but not out of it.
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr) != 0) {
    return base::Fail(ExplainForbidden("detach from the machine's mounts", errno, ReadLimits()));
  }
  TRY(MountTmpfs(ViewSource(spec.uid), base_directory));
  const std::string old_root = base_directory + kOldRoot;
  if (::mkdir(old_root.c_str(), 0700) != 0) {
    return base::Fail(base::Errno(errno, "make directory " + old_root));
  }
  if (::syscall(SYS_pivot_root, base_directory.c_str(), old_root.c_str()) != 0) {
    return base::Fail(base::Errno(errno, "pivot_root " + base_directory));
  }
  for (const ViewStep& step : steps) {
    base::Status done = ApplyStep(step);
    if (done && spec.is_root_read_only && IsOfMachine(step)) done = MakeReadOnly(step.target);
    if (!done && !step.is_optional) return done;
  }
  if (::umount2(kOldRoot, MNT_DETACH) != 0) {
    return base::Fail(base::Errno(errno, "detach the old root"));
  }
  ::rmdir(kOldRoot);
  return spec.is_root_read_only ? FreezeOwn(steps) : base::Status();
}

base::Result<std::vector<Mount>> ResolvedMounts(const PodSpec& spec) {
  std::vector<Mount> mounts = spec.mounts;
  if (!spec.hosts.empty() || !spec.hostname.empty()) {
    TRY(base::WriteFileAtomic(kHostsFile, HostsContent(spec), 0644, base::Durability::kNone));
    mounts.push_back({spec.directory + "/" + kHostsFile, "/etc/hosts", false});
  }
  for (Mount& mount : mounts) {
    if (mount.memory) continue;
    // The code directory belongs to the pod and may not exist yet.
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
  if (!spec.mounts.empty() || !spec.hosts.empty() || spec.is_root_read_only) return true;
  // Only root can become another user without one.
  const auto is_another = [](const ContainerSpec& container) {
    return (container.rights.user && *container.rights.user != ::geteuid()) ||
           (container.rights.group && *container.rights.group != ::getegid());
  };
  if (::geteuid() != 0 && std::any_of(spec.containers.begin(), spec.containers.end(), is_another)) {
    return true;
  }
  if (!spec.hostname.empty() && HostNameOf(spec) != base::HostName()) return true;
  const std::vector<std::string> directories = WorkingDirectories(spec);
  return std::any_of(directories.begin(), directories.end(),
                     [](const std::string& path) { return ::access(path.c_str(), X_OK) != 0; });
}

base::Status EnterView(const PodSpec& spec) {
  TRY_ASSIGN(const std::vector<Mount> mounts, ResolvedMounts(spec));
  TRY_ASSIGN(const std::vector<ViewStep> steps,
             PlanView(mounts, WorkingDirectories(spec), spec.directory, RealHost()));
  TRY(EnterNamespaces(spec));
  // What the view creates belongs to the pod's user, and needs no secrecy.
  const mode_t mask = ::umask(0022);
  base::Status built = BuildRoot(spec, steps);
  ::umask(mask);
  TRY(std::move(built));
  const std::string name = HostNameOf(spec);
  if (!name.empty() && ::sethostname(name.data(), name.size()) != 0) {
    return base::Fail(base::Errno(errno, "set the host name"));
  }
  return {};
}

}  // namespace local::node
