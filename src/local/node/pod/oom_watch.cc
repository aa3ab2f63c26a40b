#include "local/node/pod/oom_watch.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "base/fd.h"
#include "base/file.h"
#include "base/strings.h"
#include "process/procfs.h"

namespace local::node {
namespace {

// Nullopt when the kernel's log cannot be read.
std::optional<bool> KernelLogNames(pid_t pid) {
  const base::Fd fd(::open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (!fd) return std::nullopt;
  char record[8192];
  bool has_any = false;
  while (true) {
    const ssize_t count = ::read(fd.get(), record, sizeof record);
    // EPIPE: records were overwritten
    if (count < 0 && (errno == EINTR || errno == EPIPE)) continue;
    if (count < 0 && errno == EAGAIN) return has_any ? std::optional(false) : std::nullopt;
    if (count <= 0) return std::nullopt;
    has_any = true;
    if (NamesOomVictim({record, static_cast<size_t>(count)}, pid)) return true;
  }
}

}  // namespace

uint64_t OomKillsIn(const std::string& path) {
  const auto text = base::ReadFile(path, 1 << 16);
  if (!text) return 0;
  for (const std::string& line : base::Split(*text, '\n')) {
    if (!line.starts_with("oom_kill ")) continue;
    return static_cast<uint64_t>(base::ParseInt(line.substr(9)).value_or(0));
  }
  return 0;
}

uint64_t CgroupOomKills() {
  const auto text = base::ReadFile("/proc/self/cgroup", 1 << 16);
  if (!text) return 0;
  for (const std::string& line : base::Split(*text, '\n')) {
    if (line.starts_with("0::")) {
      const uint64_t kills = OomKillsIn("/sys/fs/cgroup" + line.substr(3) + "/memory.events");
      if (kills != 0) return kills;
    }
    const size_t memory = line.find(":memory:");
    if (memory != std::string::npos) {
      const uint64_t kills =
          OomKillsIn("/sys/fs/cgroup/memory" + line.substr(memory + 8) + "/memory.oom_control");
      if (kills != 0) return kills;
    }
  }
  return 0;
}

bool NamesOomVictim(std::string_view record, pid_t pid) {
  const std::string words = fmt::format("illed process {} (", pid);
  return record.find(words) != std::string_view::npos;
}

OomWatch::OomWatch() : before_(process::OomKillCount() + CgroupOomKills()) {}

bool OomWatch::HasKilled(std::optional<pid_t> pid) const {
  if (process::OomKillCount() + CgroupOomKills() <= before_) return false;
  return !pid || KernelLogNames(*pid).value_or(true);
}

}  // namespace local::node
