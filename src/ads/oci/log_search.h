// The Logging service: the output of a job's run (compat/opctl.md 5.5).
#pragma once

#include <set>
#include <string>
#include <vector>

#include "ads/oci/api.h"
#include "base/clock.h"
#include "base/result.h"

namespace ads::oci {

struct LogPlace {
  std::string compartment_id, group_id, log_id;
};

struct LogLine {
  std::string id;  // of the record; identifies the line
  base::Time time;
  std::string message;
};

inline constexpr size_t kMaxLogHits = 1000;
inline constexpr std::chrono::hours kLongestLogWindow{14 * 24};

// The lines of `run_ocid` between the two times, oldest first; at most 14 days. If a window
// contains more than the service returns at once, it is split in halves.
base::Result<std::vector<LogLine>> SearchLog(Api& logging, const LogPlace& place,
                                             const std::string& run_ocid, base::Time from,
                                             base::Time to);

// The compartment of a log. `management` is the Api of Service::kLogManagement.
base::Result<std::string> CompartmentOfLog(Api& management, const std::string& group_id,
                                           const std::string& log_id);
// The log group of the compartment that contains the log. kNotFound when none does.
base::Result<std::string> GroupOfLog(Api& management, const std::string& compartment_id,
                                     const std::string& log_id);

}  // namespace ads::oci
