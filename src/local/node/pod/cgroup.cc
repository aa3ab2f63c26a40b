#include "local/node/pod/cgroup.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>

#include "base/fd.h"
#include "base/file.h"
#include "base/strings.h"
#include "local/node/pod/pod_processes.h"
#include "process/procfs.h"
#include "process/spawn.h"

namespace local::node {
namespace {

constexpr std::array<const char*, 2> kControllers = {"memory", "cpu"};
constexpr const char* kTree = "muster";
// The names of containers never contain a dot.
constexpr const char* kShimLeaf = "muster.shim";
// cpu.max, in microseconds: the kernel's default period, and the smallest quota that it accepts.
constexpr int64_t kPeriod = 100'000;
constexpr int64_t kLeastQuota = 1'000;

std::string MountOf(const std::string& root) {
  const auto table = base::ReadFile(root + "/proc/self/mountinfo");
  if (!table) return "";
  for (const std::string& line : base::Split(*table, '\n')) {
    const std::vector<std::string> fields = base::Split(line, ' ');
    const auto separator = std::find(fields.begin(), fields.end(), "-");
    if (fields.end() - separator < 3 || *(separator + 1) != "cgroup2") continue;
    return root + fields[4];
  }
  return "";
}

bool Lists(const std::string& path, std::string_view word) {
  const auto text = base::ReadFile(path, 1 << 16);
  if (!text) return false;
  const auto words = base::Split(base::Trim(*text), ' ');
  return std::find(words.begin(), words.end(), word) != words.end();
}

base::Status WriteControl(const std::string& path, const std::string& text) {
  const base::Fd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (fd && ::write(fd.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size())) {
    return {};
  }
  return base::Fail(base::Errno(errno, "write " + path));
}

base::Status MakeCgroup(const std::string& path) {
  if (::mkdir(path.c_str(), 0755) == 0 || errno == EEXIST) return {};
  return base::Fail(base::Errno(errno, "make the cgroup " + path));
}

// Controllers that cannot be enabled for children are missing there, and noticed there.
void HandDown(const std::string& cgroup) {
  for (const char* const controller : kControllers) {
    if (!Lists(cgroup + "/cgroup.controllers", controller)) continue;
    (void)WriteControl(cgroup + "/cgroup.subtree_control", fmt::format("+{}", controller));
  }
}

base::Result<std::string> MakeOwnTree(const std::string& mount, std::string_view pod_uid) {
  const std::string tree = fmt::format("{}/{}", mount, kTree);
  std::string pod = fmt::format("{}/{}", tree, PodCgroupName(pod_uid));
  HandDown(mount);
  TRY(MakeCgroup(tree));
  HandDown(tree);
  TRY(MakeCgroup(pod));
  HandDown(pod);
  return pod;
}

// A cgroup with enabled controllers may not have processes of its own, so the shim moves one level
// down.
base::Result<std::string> DivideScope(const std::string& mount, std::string_view pod_uid) {
  TRY_ASSIGN(const std::string own, base::ReadFile("/proc/self/cgroup", 1 << 16));
  const std::string name = PodCgroupName(pod_uid) + ".scope";
  const std::string place = process::UnifiedCgroup(own);
  if (!place.ends_with("/" + name)) {
    return base::Fail(base::Code::kInternal, "not in the scope " + name);
  }
  std::string scope = mount + place;
  const std::string leaf = fmt::format("{}/{}", scope, kShimLeaf);
  TRY(MakeCgroup(leaf));
  TRY(WriteControl(leaf + "/cgroup.procs", "0"));
  HandDown(scope);
  return scope;
}

// Sets the limits for which the cgroup has controllers; the error names the first missing one.
base::Status Limit(const std::string& pod, ContainerSpec& container) {
  const std::string path = fmt::format("{}/{}", pod, container.name);
  TRY(MakeCgroup(path));
  base::Status limited;
  if (container.memory_limit) {
    limited = WriteControl(path + "/memory.max", std::to_string(*container.memory_limit));
    // Fails on machines without swap. A pod that could swap would become slow instead of ending.
    (void)WriteControl(path + "/memory.swap.max", "0");
    (void)WriteControl(path + "/memory.oom.group", "1");
    if (limited) container.cgroup = path;
  }
  if (container.cpu_limit_milli) {
    const int64_t quota = std::max(kLeastQuota, *container.cpu_limit_milli * (kPeriod / 1000));
    base::Status done = WriteControl(path + "/cpu.max", fmt::format("{} {}", quota, kPeriod));
    if (done) container.cgroup = path;
    if (limited) limited = std::move(done);
  }
  return limited;
}

}  // namespace

CgroupPlace FindCgroupPlace(uid_t user, const base::Environment& environment,
                            const std::string& root) {
  CgroupPlace place;
  place.mount = MountOf(root);
  if (place.mount.empty()) {
    place.why = "no cgroup v2 is mounted here";
    return place;
  }
  std::string controllers = place.mount + "/cgroup.controllers";
  if (user == 0) {
    if (::access(place.mount.c_str(), W_OK) != 0) {
      place.why =
          fmt::format("creating cgroups in {} is not permitted (in a container?)", place.mount);
      return place;
    }
    // Only the machine's root cgroup has no type: any other has processes, and enables only what it
    // does already.
    if (::access((place.mount + "/cgroup.type").c_str(), F_OK) == 0) {
      controllers = place.mount + "/cgroup.subtree_control";
    }
    place.kind = CgroupPlace::Kind::kOwnTree;
  } else {
    const std::string runtime = environment.GetOr("XDG_RUNTIME_DIR", "");
    const bool has_manager =
        !runtime.empty() && ::access((root + runtime + "/systemd/private").c_str(), F_OK) == 0;
    const auto program = process::FindProgram("systemd-run", environment.GetOr("PATH", ""));
    if (!has_manager || !program) {
      place.why =
          "there is no systemd user manager for this user, who cannot create cgroups without it";
      return place;
    }
    controllers = fmt::format("{0}/user.slice/user-{1}.slice/user@{1}.service/cgroup.controllers",
                              place.mount, user);
    place.kind = CgroupPlace::Kind::kUserScope;
  }
  place.has_memory = Lists(controllers, "memory");
  place.has_cpu = Lists(controllers, "cpu");
  if (!place.has_memory && !place.has_cpu) place.kind = CgroupPlace::Kind::kNone;
  if (!place.has_memory || !place.has_cpu) {
    place.why = fmt::format("cgroup v2 has no controller for {} for this user",
                            place.has_memory ? "CPUs"
                            : place.has_cpu  ? "memory"
                                             : "memory and CPUs");
  }
  return place;
}

std::vector<std::string> InUserScope(std::string_view pod_uid, std::vector<std::string> command) {
  std::vector<std::string> line = {"systemd-run",
                                   "--user",
                                   "--scope",
                                   "--quiet",
                                   "--collect",
                                   "--property=Delegate=yes",
                                   fmt::format("--unit={}.scope", PodCgroupName(pod_uid)),
                                   "--"};
  line.insert(line.end(), std::make_move_iterator(command.begin()),
              std::make_move_iterator(command.end()));
  return line;
}

base::Status MakeCgroups(PodSpec& spec) {
  if (spec.cgroup_mount.empty()) return {};
  TRY_ASSIGN(const std::string pod, spec.is_in_user_scope
                                        ? DivideScope(spec.cgroup_mount, spec.uid)
                                        : MakeOwnTree(spec.cgroup_mount, spec.uid));
  base::Status limited;
  for (auto* const list : {&spec.init_containers, &spec.containers}) {
    for (ContainerSpec& container : *list) {
      if (!container.HasLimits() || !container.podman_name.empty()) continue;
      const base::Status done = Limit(pod, container);
      if (limited) limited = done;
    }
  }
  return limited;
}

void RemoveCgroups(const std::string& mount, std::string_view pod_uid) {
  const std::string pod = fmt::format("{}/{}/{}", mount, kTree, PodCgroupName(pod_uid));
  const std::unique_ptr<DIR, int (*)(DIR*)> dir(::opendir(pod.c_str()), ::closedir);
  if (!dir) return;
  while (const dirent* const entry = ::readdir(dir.get())) {
    const std::string name = entry->d_name;
    if (entry->d_type == DT_DIR && name != "." && name != "..") {
      ::rmdir(fmt::format("{}/{}", pod, name).c_str());
    }
  }
  ::rmdir(pod.c_str());
}

bool IsMemoryLimited(const ContainerSpec& container) {
  return !container.cgroup.empty() &&
         ::access((container.cgroup + "/memory.max").c_str(), F_OK) == 0;
}

uint64_t OomKillsOf(const std::string& cgroup) {
  return cgroup.empty() ? 0 : process::OomKillsIn(cgroup + "/memory.events").value_or(0);
}

}  // namespace local::node
