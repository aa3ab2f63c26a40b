// A pod's status as a kubelet writes it, from what its shim reports. Pure.
#pragma once

#include <optional>
#include <string>

#include "base/clock.h"
#include "local/node/agent/objects.h"
#include "local/node/plan/pod_spec.h"
#include "text/json.h"

namespace local::node {

inline constexpr std::string_view kShimLost = "ShimLost";
inline constexpr std::string_view kNodeRebooted = "NodeRebooted";
inline constexpr std::string_view kDeadlineExceeded = "DeadlineExceeded";

// Why a pod failed that its containers do not tell.
struct PodFailure {
  std::string_view reason;
  std::string message;
};
PodFailure ShimLostFailure();
PodFailure NodeRebootedFailure();
PodFailure DeadlineFailure();
// `why` is what api::kEndAnnotation says.
PodFailure JobEndedFailure(std::string why);

struct StatusInput {
  const text::Json& pod;  // as last seen: its containers, its conditions
  const PodReport* report = nullptr;
  const NotReady* not_ready = nullptr;          // it does not start: why
  const PodFailure* failure = nullptr;          // decided by the agent
  bool has_ended = false;                       // the shim is gone: the report is the last word
  std::optional<base::Time> start_time = {};    // when the agent first saw it
  const text::Json* previous_status = nullptr;  // written last: times of conditions are kept
};

text::Json MakeStatus(const StatusInput& input, base::Time now);

// Whether the status says that a program of the pod has ever been started.
bool HasEverStarted(const text::Json& pod);

}  // namespace local::node
