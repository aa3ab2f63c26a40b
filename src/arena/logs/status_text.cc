#include "arena/logs/status_text.h"

#include <fmt/format.h>

namespace arena {
namespace {

// If nothing has been printed for this long, the text says so.
constexpr std::chrono::seconds kQuiet{5};

std::string Short(base::Duration duration) {
  const int64_t all = std::chrono::duration_cast<std::chrono::seconds>(duration).count();
  constexpr int64_t kMinute = 60;
  constexpr int64_t kHour = 60 * kMinute;
  if (all < kMinute) return fmt::format("{}s", all);
  if (all < kHour) return fmt::format("{}m{:02}s", all / kMinute, all % kMinute);
  return fmt::format("{}h{:02}m", all / kHour, all % kHour / kMinute);
}

}  // namespace

std::string StatusText(const FollowedJob& job) {
  std::string text = fmt::format("{} of {} rank{} up, {}", job.up, job.ranks,
                                 job.ranks == 1 ? "" : "s", Short(job.elapsed));
  if (job.up > 0 && job.quiet >= kQuiet) text += fmt::format(", quiet for {}", Short(job.quiet));
  if (!job.reason.empty()) text += ": " + job.reason;
  return text;
}

}  // namespace arena
