// What stays of a pod when its object is gone: its logs, its report and which Python it had, in
// $STATE/records/UID. The daemon takes it away once the store has forgotten the run (store/kept.h).
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace local::node {

// Of a pod: which Python it ran with (node/plan/packages.h).
inline constexpr std::string_view kPythonFile = "python.json";

std::string RecordDirectory(std::string_view state_directory, std::string_view pod_uid);

// Moves what stays from a pod's own directory to its record's. Where there are no logs, or the disk
// is full, nothing stays. May be repeated after it was cut off.
base::Status KeepRecord(const std::string& pod_directory, const std::string& record_directory);

}  // namespace local::node
