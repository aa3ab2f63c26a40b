#include "local/node/pod/pod_processes.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/file.h"
#include "base/strings.h"
#include "process/procfs.h"

namespace local::node {
namespace {

constexpr size_t kMaxMountTable = 16 << 20;

// "mnt:[4026531841]"; "" when it may not be read.
std::string MountNamespaceOf(const std::string& process) {
  std::array<char, 64> name{};
  const ssize_t count =
      ::readlink(fmt::format("/proc/{}/ns/mnt", process).c_str(), name.data(), name.size());
  return count < 0 ? "" : std::string(name.data(), static_cast<size_t>(count));
}

// The mount source of "/" (proc_pid_mountinfo(5)); "" when it may not be read.
std::string SourceOfRoot(pid_t pid) {
  const auto table = base::ReadFile(fmt::format("/proc/{}/mountinfo", pid), kMaxMountTable);
  if (!table) return "";
  for (const std::string& line : base::Split(*table, '\n')) {
    const std::vector<std::string> fields = base::Split(line, ' ');
    const auto separator = std::find(fields.begin(), fields.end(), "-");
    if (fields.size() < 7 || fields[4] != "/" || fields.end() - separator < 3) continue;
    return *(separator + 2);
  }
  return "";
}

}  // namespace

std::string ViewSource(std::string_view pod_uid) { return fmt::format("muster-pod-{}", pod_uid); }

std::string PodCgroupName(std::string_view pod_uid) {
  return fmt::format("muster-pod-{}", pod_uid);
}

PodProcesses::PodProcesses(std::string_view pod_uid, std::vector<PodSession> sessions)
    : variable_(fmt::format("{}={}", kPodUidVariable, pod_uid)),
      view_(ViewSource(pod_uid)),
      cgroup_("/" + PodCgroupName(pod_uid)),
      sessions_(std::move(sessions)),
      own_namespace_(MountNamespaceOf("self")) {}

std::vector<pid_t> PodProcesses::Find() {
  // A namespace's number may have been reused since the last call.
  views_.clear();
  std::vector<pid_t> found;
  for (const pid_t pid : process::AllPids()) {
    if (Has(pid)) found.push_back(pid);
  }
  return found;
}

bool PodProcesses::Has(pid_t pid) {
  const auto stat = process::ReadStat(pid);
  if (!stat || stat->state == 'Z' || stat->state == 'X' || pid == ::getpid()) return false;
  if (process::HasInEnvironment(pid, variable_)) return true;
  const auto cgroup = base::ReadFile(fmt::format("/proc/{}/cgroup", pid));
  return (cgroup && cgroup->find(cgroup_) != std::string::npos) || IsInSession(*stat) ||
         HasView(pid);
}

bool PodProcesses::HasView(pid_t pid) {
  const std::string name = MountNamespaceOf(std::to_string(pid));
  if (name.empty() || name == own_namespace_) return false;
  const auto [known, is_new] = views_.try_emplace(name, false);
  if (is_new) known->second = SourceOfRoot(pid) == view_;
  return known->second;
}

bool PodProcesses::IsInSession(const process::ProcessStat& stat) const {
  return std::any_of(sessions_.begin(), sessions_.end(), [&](const PodSession& session) {
    if (stat.session != session.id || stat.start_ticks < session.start_ticks) return false;
    // A pid is not reused while it identifies a session: its present process is the one that
    // created the session, or there is none.
    const auto leader = process::ReadStat(session.id);
    return !leader || leader->start_ticks == session.start_ticks;
  });
}

}  // namespace local::node
