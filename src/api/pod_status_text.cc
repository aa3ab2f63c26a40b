#include <fmt/format.h>

#include "api/job/training_summary.h"
#include "api/object.h"
#include "api/pod.h"

namespace api {
namespace {

std::string DescribeTerminated(const Terminated& terminated) {
  if (!terminated.reason.empty()) return std::string(terminated.reason);
  if (terminated.signal != 0) return fmt::format("Signal:{}", terminated.signal);
  return fmt::format("ExitCode:{}", terminated.exit_code);
}

// The state of the first init container that has not completed; "" when all have.
std::string InitStatus(const text::Json& pod) {
  const size_t total = text::Items(pod, {"spec", "initContainers"}).size();
  size_t done = 0;
  for (const ContainerStatus& status : InitContainerStatuses(pod)) {
    const bool is_done = (status.terminated && status.terminated->exit_code == 0) ||
                         (status.has_started && IsSidecar(pod, status.name));
    if (is_done) {
      ++done;
      continue;
    }
    if (status.terminated) return "Init:" + DescribeTerminated(*status.terminated);
    if (!status.waiting_reason.empty() && status.waiting_reason != "PodInitializing") {
      return fmt::format("Init:{}", status.waiting_reason);
    }
    return fmt::format("Init:{}/{}", done, total);
  }
  return "";
}

bool IsConditionTrue(const text::Json& pod, std::string_view type) {
  const text::Json* const condition = FindCondition(pod, type);
  return condition != nullptr && text::GetString(*condition, {"status"}) == "True";
}

// The state of the first container that waits or has ended, unless that is Completed and another
// one is ready; `otherwise` when no container waits or has ended.
std::string MainStatus(const text::Json& pod, std::string otherwise) {
  std::string text = std::move(otherwise);
  bool has_running = false;
  const std::vector<ContainerStatus> statuses = ContainerStatuses(pod);
  for (auto status = statuses.rbegin(); status != statuses.rend(); ++status) {
    if (!status->waiting_reason.empty()) {
      text = status->waiting_reason;
    } else if (status->terminated) {
      text = DescribeTerminated(*status->terminated);
    } else if (status->is_ready && status->is_running) {
      has_running = true;
    }
  }
  if (text == "Completed" && has_running) return IsPodReady(pod) ? "Running" : "NotReady";
  return text;
}

}  // namespace

std::string PodStatusText(const text::Json& pod) {
  const std::string_view reason = text::GetString(pod, {"status", "reason"});
  std::string text(reason.empty() ? Phase(pod) : reason);
  const text::Json* const scheduled = FindCondition(pod, "PodScheduled");
  if (scheduled != nullptr && text::GetString(*scheduled, {"reason"}) == "SchedulingGated") {
    text = "SchedulingGated";
  }
  const std::string init = InitStatus(pod);
  if (!init.empty()) text = init;
  if (init.empty() || IsConditionTrue(pod, "Initialized")) text = MainStatus(pod, text);
  if (IsDeleting(pod)) {
    if (reason == "NodeLost") return "Unknown";
    if (!IsPodFinished(pod)) return "Terminating";
  }
  return text;
}

}  // namespace api
