#include "witness/native.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <sstream>
#include <utility>

#include "base/file.h"
#include "base/folder.h"
#include "base/strings.h"
#include "gpu/vendor.h"
#include "process/procfs.h"
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

// What its descriptors are: paths, "socket:[4711]".
std::set<std::string> OpenFilesOf(pid_t pid) {
  const std::string fds = fmt::format("/proc/{}/fd", pid);
  std::set<std::string> files;
  for (const std::string& fd : base::EntriesOf(fds)) {
    std::error_code error;
    files.insert(std::filesystem::read_symlink(fmt::format("{}/{}", fds, fd), error));
  }
  return files;
}

// Whether one of the sockets waits for connections: TCP and Unix, in the process's network.
bool Listens(pid_t pid, const std::set<std::string>& files) {
  struct Table {
    const char* name;
    std::string_view listening;  // its fourth column: TCP_LISTEN, __SO_ACCEPTCON
    size_t inode;                // which column it is
  };
  static constexpr std::array<Table, 3> kTables = {
      {{"tcp", "0A", 9}, {"tcp6", "0A", 9}, {"unix", "00010000", 6}}};
  const auto first = files.lower_bound("socket:[");
  if (first == files.end() || !first->starts_with("socket:[")) return false;
  for (const Table& table : kTables) {
    std::ifstream rows(fmt::format("/proc/{}/net/{}", pid, table.name));
    for (std::string row; std::getline(rows, row);) {
      if (row.find(table.listening) == std::string::npos) continue;  // of many connections
      std::istringstream words(row);
      const std::vector<std::string> columns(std::istream_iterator<std::string>(words), {});
      if (columns.size() > table.inode && columns[3] == table.listening &&
          files.contains(fmt::format("socket:[{}]", columns[table.inode]))) {
        return true;
      }
    }
  }
  return false;
}

// Where programs sleep that have nothing to do: servers, and `sleep`.
bool IsRest(std::string_view place) {
  static constexpr std::array<std::string_view, 11> kRests = {
      "hrtimer_nanosleep", "do_nanosleep",   "do_sigtimedwait", "ep_poll",
      "do_sys_poll",       "do_poll",        "do_select",       "poll_schedule",
      "inet_csk_accept",   "__do_sys_pause", "sigsuspend"};
  return place.empty() || std::any_of(kRests.begin(), kRests.end(), [place](std::string_view each) {
           return place.starts_with(each);
         });
}

bool WaitsForChild(std::string_view place) {
  static constexpr std::array<std::string_view, 4> kPlaces = {"do_wait", "kernel_wait",
                                                              "do_sigtimedwait", "sigsuspend"};
  return std::any_of(kPlaces.begin(), kPlaces.end(),
                     [place](std::string_view each) { return place.starts_with(each); });
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
    const std::set<std::string> files = OpenFilesOf(each);
    if (std::any_of(files.begin(), files.end(), gpu::IsDevice)) return std::nullopt;
    is_server = is_server || Listens(each, files);
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
  // Functions of Linux 5.4 to 6.12: the first that begins the name decides.
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 17> kKnown = {{
      {"futex_", "waits for another thread"},
      {"hrtimer_nanosleep", "sleeps"},
      {"do_nanosleep", "sleeps"},
      {"do_wait", "waits for a process that it started"},
      {"kernel_wait", "waits for a process that it started"},
      {"do_sigtimedwait", "waits for a signal"},
      {"do_sys_poll", "waits for sockets or pipes"},
      {"do_poll", "waits for sockets or pipes"},
      {"do_select", "waits for sockets or pipes"},
      {"ep_poll", "waits for sockets or pipes"},
      {"poll_schedule", "waits for sockets or pipes"},
      {"inet_csk_", "waits for a connection"},
      {"wait_woken", "waits for a socket"},
      {"sk_", "waits for a socket"},
      {"unix_", "waits for a socket of this machine"},
      {"nfs", "waits for a file server"},
      {"rpc_", "waits for a file server"},
  }};
  const auto known = std::find_if(kKnown.begin(), kKnown.end(), [place](const auto& each) {
    return place.starts_with(each.first);
  });
  if (known != kKnown.end()) return fmt::format("{} ({})", known->second, place);
  if (place.find("pipe") != std::string_view::npos)
    return fmt::format("waits for a pipe ({})", place);
  return fmt::format("is in the kernel's {}", place);
}

}  // namespace witness
