// What remains of a pod when its object is deleted: its logs, its report and the record of its
// Python, in $STATE/records/UID. The daemon removes it once the store has forgotten the run
// (store/kept.h).
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace local::node {

// Which Python the pod ran with (node/plan/packages.h).
inline constexpr std::string_view kPythonFile = "python.json";

std::string RecordDirectory(std::string_view state_directory, std::string_view pod_uid);

// Moves these files from a pod's own directory to its record. Keeps nothing when there are no logs
// or the disk is full. May be repeated after it was interrupted.
base::Status KeepRecord(const std::string& pod_directory, const std::string& record_directory);

}  // namespace local::node
