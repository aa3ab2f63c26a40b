#include "process/procfs.h"

#include <dirent.h>
#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <memory>

#include "base/file.h"
#include "base/strings.h"

namespace process {
namespace {

constexpr size_t kEnvironLimit = 8 << 20;
// PF_EXITING of the kernel's sched.h.
constexpr uint64_t kExiting = 0x4;

template <typename Number>
bool Parse(std::string_view text, Number& value) {
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  return failed == std::errc() && end == text.data() + text.size();
}

std::vector<pid_t> NumericEntries(const std::string& path) {
  std::vector<pid_t> pids;
  const std::unique_ptr<DIR, int (*)(DIR*)> dir(::opendir(path.c_str()), ::closedir);
  if (!dir) return pids;
  while (const dirent* const entry = ::readdir(dir.get())) {
    pid_t pid;
    if (Parse<pid_t>(entry->d_name, pid)) pids.push_back(pid);
  }
  return pids;
}

// Appends the children of `pid`; false when this kernel does not list them.
bool AppendChildren(pid_t pid, std::vector<pid_t>& children) {
  for (const pid_t thread : NumericEntries(fmt::format("/proc/{}/task", pid))) {
    const auto text = base::ReadFile(fmt::format("/proc/{}/task/{}/children", pid, thread));
    if (!text) {
      if (ReadStat(pid)) return false;
      continue;
    }
    for (const std::string& word : base::Split(*text, ' ')) {
      pid_t child;
      if (Parse<pid_t>(word, child)) children.push_back(child);
    }
  }
  return true;
}

std::unordered_multimap<pid_t, ProcessStat> AllByParent() {
  std::unordered_multimap<pid_t, ProcessStat> by_parent;
  for (const pid_t pid : AllPids()) {
    if (const auto stat = ReadStat(pid)) by_parent.emplace(stat->parent, *stat);
  }
  return by_parent;
}

// Empty for a zombie, not permitted for other users' processes.
std::string Environ(pid_t pid) {
  return base::ReadFile(fmt::format("/proc/{}/environ", pid), kEnvironLimit).value_or("");
}

}  // namespace

base::Result<ProcessStat> ParseStat(std::string_view text) {
  // pid (name) state ppid pgrp session ... field 22 is the start time; proc(5).
  const size_t name_end = text.rfind(')');
  const size_t name_begin = text.find('(');
  ProcessStat stat;
  const auto malformed = [] {
    return base::Fail(base::Code::kInternal, "malformed /proc/<pid>/stat");
  };
  if (name_end == std::string_view::npos || name_begin == std::string_view::npos) {
    return malformed();
  }
  if (!Parse(base::Trim(text.substr(0, name_begin)), stat.pid)) return malformed();
  stat.name = text.substr(name_begin + 1, name_end - name_begin - 1);
  const std::vector<std::string> fields = base::Split(base::Trim(text.substr(name_end + 1)), ' ');
  if (fields.size() < 20 || fields[0].size() != 1) return malformed();
  stat.state = fields[0][0];
  uint64_t flags = 0;
  if (!Parse(fields[1], stat.parent) || !Parse(fields[2], stat.group) ||
      !Parse(fields[3], stat.session) || !Parse(fields[6], flags) ||
      !Parse(fields[19], stat.start_ticks)) {
    return malformed();
  }
  stat.is_exiting = (flags & kExiting) != 0;
  constexpr size_t kOwnTicks = 11;
  constexpr size_t kReapedTicks = 13;
  for (size_t field = kOwnTicks; field < kReapedTicks + 2; ++field) {
    uint64_t ticks = 0;
    if (!Parse(fields[field], ticks)) continue;
    stat.ticks += ticks;
    if (field < kReapedTicks) stat.own_ticks += ticks;
  }
  return stat;
}

base::Result<ProcessStat> ReadStat(pid_t pid) {
  TRY_ASSIGN(const std::string text, base::ReadFile(fmt::format("/proc/{}/stat", pid)));
  return ParseStat(text);
}

std::vector<ProcessStat> ThreadsOf(pid_t pid) {
  std::vector<ProcessStat> threads;
  const std::string folder = fmt::format("/proc/{}/task", pid);
  for (const pid_t thread : NumericEntries(folder)) {
    const auto text = base::ReadFile(fmt::format("{}/{}/stat", folder, thread));
    if (!text) continue;
    if (const auto stat = ParseStat(*text)) threads.push_back(*stat);
  }
  return threads;
}

base::Result<std::string> BootId() {
  TRY_ASSIGN(const std::string text, base::ReadFile("/proc/sys/kernel/random/boot_id"));
  return std::string(base::Trim(text));
}

std::vector<pid_t> AllPids() { return NumericEntries("/proc"); }

std::vector<ProcessStat> ProcessTree::DescendantsOf(pid_t root) {
  std::vector<ProcessStat> found;
  std::vector<pid_t> open{root};
  while (!open.empty() && !by_parent_) {
    const pid_t pid = open.back();
    open.pop_back();
    std::vector<pid_t> children;
    if (!AppendChildren(pid, children)) by_parent_ = AllByParent();
    for (const pid_t child : children) {
      if (const auto stat = ReadStat(child)) found.push_back(*stat);
      open.push_back(child);
    }
  }
  if (!by_parent_) return found;
  found.clear();
  open = {root};
  while (!open.empty()) {
    const auto [begin, end] = by_parent_->equal_range(open.back());
    open.pop_back();
    for (auto it = begin; it != end; ++it) {
      found.push_back(it->second);
      open.push_back(it->second.pid);
    }
  }
  return found;
}

std::vector<ProcessStat> Descendants(pid_t root) { return ProcessTree().DescendantsOf(root); }

std::vector<std::string> EnvironmentOf(pid_t pid) { return base::Split(Environ(pid), '\0'); }

bool HasInEnvironment(pid_t pid, std::string_view entry) {
  const std::string text = Environ(pid);
  if (text.empty()) return false;
  const std::string framed = fmt::format("{0}{1}{0}", '\0', text);
  return framed.find(fmt::format("{0}{1}{0}", '\0', entry)) != std::string::npos;
}

std::vector<pid_t> FindByEnvironment(std::string_view entry) {
  std::vector<pid_t> found;
  for (const pid_t pid : AllPids()) {
    if (HasInEnvironment(pid, entry)) found.push_back(pid);
  }
  return found;
}

std::string UnifiedCgroup(std::string_view text) {
  for (const std::string& line : base::Split(text, '\n')) {
    if (line.starts_with("0::")) return line.substr(3);
  }
  return "";
}

size_t OpenDescriptors(pid_t pid) { return NumericEntries(fmt::format("/proc/{}/fd", pid)).size(); }

int64_t ResidentBytes(pid_t pid) {
  const auto text = base::ReadFile("/proc/" + std::to_string(pid) + "/statm", 4096);
  if (!text) return 0;
  const auto fields = base::Split(*text, ' ');
  const auto pages = fields.size() > 1 ? base::ParseInt(fields[1]) : std::nullopt;
  return pages ? *pages * ::sysconf(_SC_PAGESIZE) : 0;
}

uint64_t TransferredBytes(pid_t pid) {
  const auto text = base::ReadFile("/proc/" + std::to_string(pid) + "/io", 4096);
  if (!text) return 0;
  uint64_t bytes = 0;
  for (const std::string& line : base::Split(*text, '\n')) {
    for (const std::string_view name : {"rchar: ", "wchar: "}) {
      if (!line.starts_with(name)) continue;
      const auto count = base::ParseInt(line.substr(name.size()));
      if (count && *count > 0) bytes += static_cast<uint64_t>(*count);
    }
  }
  return bytes;
}

uint64_t OomKillCount() {
  const auto text = base::ReadFile("/proc/vmstat");
  if (!text) return 0;
  constexpr std::string_view kKey = "\noom_kill ";
  const size_t begin = text->find(kKey);
  if (begin == std::string::npos) return 0;
  const size_t end = text->find('\n', begin + 1);
  uint64_t count = 0;
  Parse(std::string_view(*text).substr(begin + kKey.size(), end - begin - kKey.size()), count);
  return count;
}

std::optional<uint64_t> OomKillsIn(const std::string& path) {
  const auto text = base::ReadFile(path, 1 << 16);
  if (!text) return std::nullopt;
  for (const std::string& line : base::Split(*text, '\n')) {
    if (!line.starts_with("oom_kill ")) continue;
    const auto count = base::ParseInt(line.substr(line.find(' ') + 1));
    return count ? std::optional(static_cast<uint64_t>(*count)) : std::nullopt;
  }
  return std::nullopt;
}

std::optional<uint64_t> OwnCgroupOomKills() {
  const auto groups = base::ReadFile("/proc/self/cgroup", 1 << 16);
  if (!groups) return std::nullopt;
  for (const std::string& line : base::Split(*groups, '\n')) {
    const auto parts = base::Split(line, ':');
    if (parts.size() < 3) continue;
    std::optional<uint64_t> kills;
    if (parts[1].empty()) kills = OomKillsIn("/sys/fs/cgroup" + parts[2] + "/memory.events");
    if (parts[1] == "memory") {
      kills = OomKillsIn("/sys/fs/cgroup/memory" + parts[2] + "/memory.oom_control");
    }
    if (kills) return kills;
  }
  return std::nullopt;
}

}  // namespace process
