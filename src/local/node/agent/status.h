// Builds a pod's status as a kubelet would, from the report of its shim. Pure.
#pragma once

#include <optional>
#include <string>

#include "base/clock.h"
#include "local/node/plan/objects.h"
#include "local/node/pod/pod_spec.h"
#include "text/json.h"

namespace local::node {

inline constexpr std::string_view kShimLost = "ShimLost";
inline constexpr std::string_view kNodeRebooted = "NodeRebooted";
inline constexpr std::string_view kDeadlineExceeded = "DeadlineExceeded";

// A reason for a pod's failure that its containers do not show.
struct PodFailure {
  std::string_view reason;
  std::string message;
};
PodFailure ShimLostFailure();
PodFailure NodeRebootedFailure();
PodFailure DeadlineFailure();
// `why` is the value of api::kEndAnnotation.
PodFailure JobEndedFailure(std::string why);

struct StatusInput {
  const text::Json& pod;  // the latest version: its containers, its conditions
  const PodReport* report = nullptr;
  const NotReady* not_ready = nullptr;          // why it does not start
  const PodFailure* failure = nullptr;          // decided by the agent
  bool has_ended = false;                       // the shim is gone: its report is final
  std::optional<base::Time> start_time = {};    // when the agent first saw it
  const text::Json* previous_status = nullptr;  // the last one written, whose condition times are
                                                // kept
};

text::Json MakeStatus(const StatusInput& input, base::Time now);

// Whether the status says that a program of the pod was ever started.
bool HasEverStarted(const text::Json& pod);

}  // namespace local::node
