#include "answers/files/own_clock.h"

#include <algorithm>
#include <optional>

#include "answers/log/own_stamp.h"

namespace answers {

OwnClock ClockOf(const std::vector<File>& files) {
  if (files.size() < 2) return OwnClock::kNone;
  bool have_dates = true;
  bool have_days = true;
  for (const File& file : files) {
    if (file.log->text.empty()) continue;
    const auto has = [&file](auto predicate) {
      return std::any_of(file.lines.begin(), file.lines.end(), predicate);
    };
    const bool is_carried = HasCarriersTimes(file);
    have_dates = have_dates && (is_carried || has([](const Split& split) {
                                  return split.own_time && split.own_time->has_year;
                                }));
    have_days = have_days && !is_carried &&
                has([](const Split& split) { return split.own_time.has_value(); });
  }
  if (have_dates) return OwnClock::kDates;
  return have_days ? OwnClock::kDaysOfAnyYear : OwnClock::kNone;
}

void TakeOwnTimes(File& file, OwnClock clock) {
  if (clock == OwnClock::kNone || HasCarriersTimes(file)) return;
  const auto time_of = [clock](const Split& split) -> std::optional<base::Time> {
    if (!split.own_time) return std::nullopt;
    if (clock == OwnClock::kDaysOfAnyYear) return WithoutYear(*split.own_time).time;
    return split.own_time->has_year ? std::optional(split.own_time->time) : std::nullopt;
  };
  std::optional<base::Time> last;
  for (size_t i = 0; !last && i < file.lines.size(); ++i) last = time_of(file.lines[i]);
  for (Split& split : file.lines) {
    if (const auto time = time_of(split)) last = time;
    split.line.time = last;
  }
}

}  // namespace answers
