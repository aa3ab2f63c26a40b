#include "witness/native.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

#include "base/file.h"
#include "base/strings.h"
#include "gpu/vendor.h"
#include "process/procfs.h"
#include "process/sockets.h"
#include "witness/stacks.h"

namespace witness {
namespace {

struct Variables {
  std::string folder, rank;
  std::string world;
  bool is_worker = false;  // a launcher has started it; the launcher has its pod's RANK
};

Variables VariablesOf(pid_t pid) {
  Variables read;
  const std::string stacks = fmt::format("{}=", kStacksVariable);
  for (const std::string& entry : process::EnvironmentOf(pid)) {
    if (entry.starts_with(stacks)) read.folder = entry.substr(stacks.size());
    if (entry.starts_with("RANK=")) read.rank = entry.substr(5);
    if (entry.starts_with("WORLD_SIZE=")) read.world = entry.substr(11);
    if (entry.starts_with("LOCAL_RANK=")) read.is_worker = true;
  }
  return read;
}

struct Candidate {
  int rank = 0;
  int world = 0;
  pid_t pid = 0;
  bool is_worker = false;
  std::pair<uint64_t, uint64_t> busy;  // CPU time, and when it began
};

// A process and all that it has started.
std::vector<pid_t> ProcessesBelow(pid_t root, process::ProcessTree& tree) {
  std::vector<pid_t> pids{root};
  for (const process::ProcessStat& each : tree.DescendantsOf(root)) {
    if (each.state != 'Z') pids.push_back(each.pid);
  }
  return pids;
}

// Whether one of these sockets waits for connections: TCP and Unix, in the process's network.
bool Listens(pid_t pid, const std::set<uint64_t>& sockets) {
  if (sockets.empty()) return false;
  const auto is_ours = [&sockets](uint64_t inode) { return sockets.contains(inode); };
  const std::vector<process::TcpSocket> tcp = process::TcpSocketsAround(pid);
  const std::vector<uint64_t> unix = process::ListeningUnixSocketsAround(pid);
  return std::any_of(tcp.begin(), tcp.end(),
                     [&](const auto& each) { return each.is_listening && is_ours(each.inode); }) ||
         std::any_of(unix.begin(), unix.end(), is_ours);
}

// A function of Linux 5.4 to 6.12 in which threads sleep.
struct KnownPlace {
  std::string_view begin;  // of its name
  std::string_view words;  // "" if the name says it better
  bool is_rest = false;    // programs sleep there that have nothing to do: servers, `sleep`
  bool waits_for_child = false;
};

// The first that begins the name decides.
const KnownPlace* FindPlace(std::string_view name) {
  static constexpr auto kPlaces = std::to_array<KnownPlace>({
      {"futex_", "waits for another thread"},
      {"hrtimer_nanosleep", "sleeps", true},
      {"do_nanosleep", "sleeps", true},
      {"do_wait", "waits for a process that it started", false, true},
      {"kernel_wait", "waits for a process that it started", false, true},
      {"do_sigtimedwait", "waits for a signal", true, true},
      {"sigsuspend", "", true, true},
      {"__do_sys_pause", "", true},
      {"do_sys_poll", "waits for sockets or pipes", true},
      {"do_poll", "waits for sockets or pipes", true},
      {"do_select", "waits for sockets or pipes", true},
      {"ep_poll", "waits for sockets or pipes", true},
      {"poll_schedule", "waits for sockets or pipes", true},
      {"inet_csk_accept", "waits for a connection", true},
      {"inet_csk_", "waits for a connection"},
      {"wait_woken", "waits for a socket"},
      {"sk_", "waits for a socket"},
      {"unix_", "waits for a socket of this machine"},
      {"nfs", "waits for a file server"},
      {"rpc_", "waits for a file server"},
  });
  const auto* const found =
      std::find_if(kPlaces.begin(), kPlaces.end(),
                   [name](const KnownPlace& each) { return name.starts_with(each.begin); });
  return found == kPlaces.end() ? nullptr : found;
}

bool IsRest(std::string_view name) {
  const KnownPlace* const place = FindPlace(name);
  return name.empty() || (place != nullptr && place->is_rest);
}

bool WaitsForChild(std::string_view name) {
  const KnownPlace* const place = FindPlace(name);
  return place != nullptr && place->waits_for_child;
}

}  // namespace

answers::Activity NativeActivityOf(pid_t pid, process::ProcessTree& tree) {
  answers::Activity all = ActivityOf("", pid, tree);
  all.switches = 0;
  for (const pid_t each : ProcessesBelow(pid, tree)) {
    // What a thread receives is counted nowhere, but it has slept until then.
    for (const process::ProcessStat& thread : process::ThreadsOf(each)) {
      all.switches += SwitchesOf(each, thread.pid).value_or(0);
    }
    all.transfers += process::TransferredBytes(each);
    if (each == pid) continue;
    const answers::Activity activity = ActivityOf("", each, tree);
    all.transfers += activity.transfers;
    if (activity.state == 'R' || activity.state == 'D') all.state = activity.state;
  }
  return all;
}

std::optional<answers::KernelSleep> KernelSleepOf(pid_t pid, process::ProcessTree& tree) {
  const std::vector<pid_t> pids = ProcessesBelow(pid, tree);
  bool is_server = false;
  for (const pid_t each : pids) {
    std::set<uint64_t> sockets;
    for (const std::string& file : process::OpenFilesOf(each)) {
      if (gpu::IsDevice(file)) return std::nullopt;
      if (const auto inode = process::SocketInode(file)) sockets.insert(*inode);
    }
    is_server = is_server || Listens(each, sockets);
  }
  // What only waits for the program, such as a shell or `timeout`, says nothing of it.
  pid_t chosen = pid;
  std::string chosen_place = KernelPlaceOf(pid);
  std::optional<uint64_t> most;
  for (const pid_t each : pids) {
    const auto stat = process::ReadStat(each);
    const std::string place = KernelPlaceOf(each);
    if (!stat || WaitsForChild(place) || (most && stat->ticks < *most)) continue;
    most = stat->ticks;
    chosen = each;
    chosen_place = place;
  }
  return answers::KernelSleep{chosen, SayKernelPlace(chosen_place), IsRest(chosen_place),
                              is_server};
}

std::vector<NativeRank> NativeRanksOf(const std::set<std::string>& folders) {
  std::map<std::string, std::vector<Candidate>> by_folder;
  for (const pid_t pid : process::AllPids()) {
    const Variables variables = VariablesOf(pid);
    const auto rank = base::ParseInt(variables.rank);
    if (!rank || *rank < 0 || *rank > INT32_MAX || !folders.contains(variables.folder)) continue;
    const auto stat = process::ReadStat(pid);
    if (!stat || stat->state == 'Z') continue;
    const auto world = base::ParseInt(variables.world);
    by_folder[variables.folder].push_back(
        {static_cast<int>(*rank),
         world && *world > *rank && *world <= INT32_MAX ? static_cast<int>(*world) : 0,
         pid,
         variables.is_worker,
         {stat->ticks, stat->start_ticks}});
  }
  std::vector<NativeRank> found;
  for (const auto& [folder, candidates] : by_folder) {
    const bool has_launcher = std::any_of(candidates.begin(), candidates.end(),
                                          [](const Candidate& each) { return each.is_worker; });
    std::map<int, const Candidate*> ranks;
    for (const Candidate& each : candidates) {
      if (has_launcher && !each.is_worker) continue;
      const Candidate*& chosen = ranks[each.rank];
      if (chosen == nullptr || chosen->busy < each.busy) chosen = &each;
    }
    for (const auto& [rank, chosen] : ranks)
      found.push_back({folder, rank, chosen->world, chosen->pid});
  }
  return found;
}

std::string KernelPlaceOf(pid_t pid) {
  const auto place = base::ReadFile(fmt::format("/proc/{0}/task/{0}/wchan", pid), 256);
  const std::string name(place ? base::Trim(*place) : "");
  return name == "0" ? "" : name;
}

std::string SayKernelPlace(std::string_view place) {
  if (place.empty()) return "";
  const KnownPlace* const known = FindPlace(place);
  if (known != nullptr && !known->words.empty()) return fmt::format("{} ({})", known->words, place);
  if (place.find("pipe") != std::string_view::npos)
    return fmt::format("waits for a pipe ({})", place);
  return fmt::format("is in the kernel's {}", place);
}

}  // namespace witness
