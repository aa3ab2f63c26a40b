#include "witness/near_limits.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "answers/witness_line.h"
#include "base/file.h"
#include "base/strings.h"
#include "process/procfs.h"
#include "witness/machine.h"

namespace witness {
namespace {

constexpr size_t kMostProcText = 16 << 10;
constexpr int kShareOfTime = 200;
constexpr size_t kMostProcesses = 16;  // mentioned at most
constexpr std::chrono::seconds kShortestWait{1};

bool IsNear(int64_t used, int64_t limit) { return limit > 0 && used * 10 >= limit * 9; }

std::string ReadProc(pid_t pid, std::string_view name) {
  return base::ReadFile(fmt::format("/proc/{}/{}", pid, name), kMostProcText).value_or("");
}

int64_t NumberBehind(std::string_view text, std::string_view name) {
  const size_t at = text.find(name);
  if (at == std::string_view::npos) return -1;
  text = base::Trim(text.substr(at + name.size()));
  return base::ParseInt(text.substr(0, text.find_first_of(" \t\n"))).value_or(-1);
}

int64_t ThreadsOf(pid_t pid) {
  return std::max<int64_t>(0, NumberBehind(ReadProc(pid, "status"), "\nThreads:"));
}

// Reads a file of the program's cgroup (v2); returns "" if the program has none.
std::string ReadCgroup(pid_t program, std::string_view name) {
  const std::string place = process::UnifiedCgroup(ReadProc(program, "cgroup"));
  if (place.empty()) return "";
  return base::ReadFile(fmt::format("/sys/fs/cgroup{}/{}", place, name), kMostProcText)
      .value_or("");
}

}  // namespace

int64_t LimitIn(std::string_view limits, std::string_view name) {
  return NumberBehind(limits, name);  // "unlimited" is not a number
}

std::vector<answers::Fact> NearLimits::facts() const {
  std::vector<answers::Fact> facts;
  for (const auto& [pid, fact] : of_processes_) facts.push_back(fact);
  facts.insert(facts.end(), of_program_.begin(), of_program_.end());
  return facts;
}

void NearLimits::Look(pid_t program, const std::vector<std::string>& folders, base::Clock& clock) {
  const auto begin = clock.Steady();
  if (begin < next_) return;
  const auto is_alive = [](const process::ProcessStat& stat) {
    return stat.state != 'Z' && !stat.is_exiting;
  };
  const auto root = process::ReadStat(program);
  if (!root || !is_alive(*root)) return;
  const base::Time now = clock.Now();
  int64_t threads = ThreadsOf(program);
  LookAtDescriptors(program, now);
  for (const process::ProcessStat& child : process::Descendants(program)) {
    if (!is_alive(child)) continue;
    threads += ThreadsOf(child.pid);
    LookAtDescriptors(child.pid, now);
  }
  of_program_ = FullFileSystems(folders, now);
  const auto add = [this, now](std::string text) {
    of_program_.push_back({now, std::string(answers::kLimits), std::move(text)});
  };
  const int64_t of_user =
      ::geteuid() == 0 ? -1 : LimitIn(ReadProc(program, "limits"), "Max processes");
  if (IsNear(threads, of_user)) {
    add(fmt::format("the program has {} of the user's {} threads", threads, of_user));
  }
  const auto used = base::ParseInt(base::Trim(ReadCgroup(program, "pids.current")));
  const auto most = base::ParseInt(base::Trim(ReadCgroup(program, "pids.max")));
  if (used && most && IsNear(*used, *most)) {
    add(fmt::format("the cgroup has {} of {} processes and threads", *used, *most));
  }
  next_ = begin + std::max<std::chrono::nanoseconds>(kShortestWait,
                                                     kShareOfTime * (clock.Steady() - begin));
}

// The last fact about a process stays after the process has ended.
void NearLimits::LookAtDescriptors(pid_t pid, base::Time now) {
  const int64_t open = static_cast<int64_t>(process::OpenDescriptors(pid));
  const int64_t limit = LimitIn(ReadProc(pid, "limits"), "Max open files");
  if (!IsNear(open, limit)) {
    of_processes_.erase(pid);
  } else if (of_processes_.size() < kMostProcesses || of_processes_.contains(pid)) {
    of_processes_[pid] = {
        now, std::string(answers::kLimits),
        fmt::format("process {} has {} of {} descriptors open", pid, open, limit)};
  }
}

}  // namespace witness
