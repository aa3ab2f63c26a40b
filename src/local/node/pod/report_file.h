// status.json: the pod's report, written so that it reaches the daemon even when the disk is full.
#pragma once

#include <string>

#include "base/result.h"
#include "local/node/pod/pod_spec.h"

namespace local::node {

inline constexpr std::string_view kReportFile = "status.json";

// Keeps a few preallocated blocks beside the report, and frees them when there is no other room.
// Paths are relative to the current directory, the pod's. Not thread safe.
class ReportFile {
 public:
  // Best effort; called when nothing waits for it.
  void Reserve();
  // Replaces the report. With `is_synced`, it is on disk when this returns.
  base::Status Write(const PodReport& report, bool is_synced);
  // Call it after the last report.
  void Release();

 private:
  bool is_reserved_ = false;
};

}  // namespace local::node
