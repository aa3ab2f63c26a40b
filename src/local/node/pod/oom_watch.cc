#include "local/node/pod/oom_watch.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "base/fd.h"
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

// Grows with each kill, whichever of the two the kernel counts it in.
uint64_t AllOomKills() {
  return process::OomKillCount() + process::OwnCgroupOomKills().value_or(0);
}

}  // namespace

bool NamesOomVictim(std::string_view record, pid_t pid) {
  const std::string words = fmt::format("illed process {} (", pid);
  return record.find(words) != std::string_view::npos;
}

OomWatch::OomWatch() : before_(AllOomKills()) {}

bool OomWatch::HasKilled(std::optional<pid_t> pid) const {
  if (AllOomKills() <= before_) return false;
  return !pid || KernelLogNames(*pid).value_or(true);
}

}  // namespace local::node
