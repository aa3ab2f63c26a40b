// The time that a program itself has put at the beginning of a line.
#pragma once

#include <optional>
#include <string_view>

#include "base/clock.h"

namespace answers {

struct OwnStamp {
  base::Time time;  // by the program's clock, of an unknown time zone
  // Loggers like glog leave the year out: it is 2000 then, so that such stamps compare to each
  // other and to no others.
  bool has_year = true;
};

// A date and a clock within the first characters, as loggers of Python and glog print them:
// "2026-03-02 10:11:04,123", "2026/03/02 10:11:04", "03/02/2026 10:11:04", "Mar  2 10:11:04",
// "03-02 10:11:04", "03/02 10:11:04", "I0302 10:11:04.120000", "E302 10:11:04.1". Nullopt without
// one, or if it is not a valid date. Pure.
std::optional<OwnStamp> ReadOwnStamp(std::string_view line);

// The same moment in the year 2000.
OwnStamp WithoutYear(OwnStamp stamp);

}  // namespace answers
