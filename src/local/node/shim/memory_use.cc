#include "local/node/shim/memory_use.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "base/file.h"
#include "base/strings.h"

namespace local::node {
namespace {

constexpr size_t kMaxProcFile = 64 << 10;
// A machine cannot hand out pages faster than this, because the kernel has to clear each.
constexpr int64_t kBytesPerMilli = 4 << 20;
constexpr std::chrono::milliseconds kShortestLook{50};
constexpr std::chrono::milliseconds kLongestLook{1000};
constexpr int kLooksPart = 20;
constexpr int64_t kKibi = 1 << 10;
constexpr int64_t kMebi = 1 << 20;
constexpr int64_t kGibi = 1 << 30;

// The value of "RssAnon:      1234 kB" in `text`, in bytes; 0 without such a line.
int64_t KilobytesOf(std::string_view text, std::string_view name) {
  size_t at = text.find(name);
  while (at != std::string_view::npos && at != 0 && text[at - 1] != '\n') {
    at = text.find(name, at + 1);
  }
  if (at == std::string_view::npos) return 0;
  std::string_view rest = text.substr(at + name.size());
  rest = base::Trim(rest.substr(0, rest.find("kB")));
  return base::ParseInt(rest).value_or(0) * kKibi;
}

std::string ProcFile(pid_t pid, std::string_view name) {
  return base::ReadFile(fmt::format("/proc/{}/{}", pid, name), kMaxProcFile).value_or("");
}

}  // namespace

int64_t ResidentIn(const std::string& status) {
  return KilobytesOf(status, "RssAnon:") + KilobytesOf(status, "RssShmem:");
}

int64_t ProportionalIn(const std::string& rollup) {
  const int64_t parts = KilobytesOf(rollup, "Pss_Anon:") + KilobytesOf(rollup, "Pss_Shmem:");
  // Before Linux 5.4 this includes files.
  return parts > 0 ? parts : KilobytesOf(rollup, "Pss:");
}

int64_t MemoryOf(const std::vector<pid_t>& pids, int64_t enough) {
  int64_t bound = 0;
  for (const pid_t pid : pids) bound += ResidentIn(ProcFile(pid, "status"));
  if (bound <= enough) return bound;
  int64_t used = 0;
  for (const pid_t pid : pids) {
    const std::string rollup = ProcFile(pid, "smaps_rollup");
    used += rollup.empty() ? ResidentIn(ProcFile(pid, "status")) : ProportionalIn(rollup);
  }
  return std::min(used, bound);
}

std::chrono::milliseconds UntilNextLook(int64_t used, int64_t limit,
                                        std::chrono::nanoseconds cost) {
  const std::chrono::milliseconds filled(std::max<int64_t>(0, limit - used) / kBytesPerMilli);
  const auto paid = std::chrono::ceil<std::chrono::milliseconds>(cost * kLooksPart);
  return std::max(std::clamp(filled, kShortestLook, kLongestLook), paid);
}

std::string FormatMemory(int64_t bytes) {
  constexpr std::array<std::pair<int64_t, std::string_view>, 3> kUnits = {
      {{kGibi, "GiB"}, {kMebi, "MiB"}, {kKibi, "KiB"}}};
  for (const auto& [size, unit] : kUnits) {
    if (bytes < size) continue;
    if (bytes % size == 0) return fmt::format("{} {}", bytes / size, unit);
    return fmt::format("{:.1f} {}", static_cast<double>(bytes) / static_cast<double>(size), unit);
  }
  return fmt::format("{} bytes", bytes);
}

}  // namespace local::node
