#include "witness/machine.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <set>
#include <system_error>

#include "answers/witness_line.h"
#include "base/fd.h"
#include "witness/kernel_log.h"

namespace witness {
namespace {

constexpr size_t kMostRecords = 16;
constexpr size_t kMostText = 16 << 20;
// The kernel's log uses a different clock, which drifts relative to this one.
constexpr std::chrono::seconds kDrift{1};
constexpr uint64_t kFullBytes = 1 << 20;
constexpr uint64_t kFullShare = 100;

std::chrono::microseconds SinceBoot() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::duration_cast<std::chrono::microseconds>(
                                                std::chrono::nanoseconds(now.tv_nsec));
}

// Returns "" if the file cannot be read. Each read of /dev/kmsg returns one record.
std::string ReadAll(const std::string& path) {
  const base::Fd fd(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  std::string text;
  char buffer[8192];
  while (fd && text.size() < kMostText) {
    const ssize_t count = ::read(fd.get(), buffer, sizeof buffer);
    // EPIPE means that records were overwritten
    if (count < 0 && (errno == EINTR || errno == EPIPE)) continue;
    if (count <= 0) break;
    text.append(buffer, static_cast<size_t>(count));
  }
  return text;
}

std::string Bytes(uint64_t bytes) {
  return bytes < (1U << 30) ? fmt::format("{} MiB", bytes >> 20)
                            : fmt::format("{:.1f} GiB", static_cast<double>(bytes) / (1U << 30));
}

}  // namespace

Machine::Machine(std::string root)
    : kernel_log_(std::move(root) + "/dev/kmsg"), begin_(SinceBoot() - kDrift) {}

std::vector<answers::Fact> Machine::KernelSays(bool has_gpus, base::Time now) const {
  std::vector<answers::Fact> facts;
  const std::chrono::microseconds now_since_boot = SinceBoot();
  for (KernelRecord& record : ReadKernelLog(ReadAll(kernel_log_))) {
    const KernelTopic topic = record.at < begin_ ? KernelTopic::kNone : TopicOf(record.text);
    if (topic == KernelTopic::kNone || (topic == KernelTopic::kGpus && !has_gpus)) continue;
    facts.push_back({now - std::max(std::chrono::microseconds(0), now_since_boot - record.at),
                     std::string(answers::kKernelLog), std::move(record.text)});
    if (facts.size() == kMostRecords) break;
  }
  return facts;
}

std::string Machine::WhyKernelIsSilent() const {
  const base::Fd fd(::open(kernel_log_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  return fd ? "" : std::generic_category().message(errno);
}

std::vector<answers::Fact> FullFileSystems(const std::vector<std::string>& folders,
                                           base::Time now) {
  std::vector<answers::Fact> facts;
  std::set<dev_t> seen;
  for (const std::string& folder : folders) {
    struct stat about{};
    struct statvfs space{};
    if (::stat(folder.c_str(), &about) != 0 || !seen.insert(about.st_dev).second ||
        ::statvfs(folder.c_str(), &space) != 0 || space.f_blocks == 0) {
      continue;
    }
    const uint64_t free = uint64_t{space.f_bavail} * space.f_frsize;
    const uint64_t total = uint64_t{space.f_blocks} * space.f_frsize;
    if (free < std::min(kFullBytes, total / kFullShare)) {
      facts.push_back(
          {now, std::string(answers::kFileSystem),
           fmt::format("{} is full: {} KiB free of {}", folder, free >> 10, Bytes(total))});
    } else if (space.f_files > 0 && space.f_favail == 0) {
      facts.push_back({now, std::string(answers::kFileSystem),
                       fmt::format("{} has no inodes left, of {}", folder, space.f_files)});
    }
  }
  return facts;
}

}  // namespace witness
