// status.json: the pod's report, written so that a full disk cannot keep it from the daemon.
#pragma once

#include <string>

#include "base/result.h"
#include "local/node/plan/pod_spec.h"

namespace local::node {

inline constexpr std::string_view kReportFile = "status.json";

// Keeps a few preallocated blocks beside the report, and gives them up when there is no other room.
// Paths are relative to the current directory, the pod's. Not thread safe.
class ReportFile {
 public:
  // Best effort; called when nobody waits for it.
  void Reserve();
  // Replaces the report. kSync: on disk when it returns.
  base::Status Write(const PodReport& report, bool is_synced);
  // After the last report.
  void Release();

 private:
  bool is_reserved_ = false;
};

}  // namespace local::node
