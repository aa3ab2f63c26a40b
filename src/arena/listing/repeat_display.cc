#include "arena/listing/repeat_display.h"

#include <fmt/format.h>

#include "arena/jobs/jobs.h"
#include "base/log.h"

namespace arena {

base::Status ShowRepeatedly(const Context& context, cli::Output& out, bool repeats,
                            std::string_view before, std::string_view after,
                            const std::function<base::Status()>& show) {
  constexpr std::chrono::seconds kInterval{2};
  if (!repeats) return show();
  for (;;) {
    if (const base::Status shown = show(); !shown) base::LogError("{}", shown.error().message);
    TRY(out.Write(fmt::format("{} {} {}\n", before, LocalTime(context.clock.Now()), after)));
    context.pause(kInterval);
  }
}

}  // namespace arena
