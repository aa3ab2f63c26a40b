#include "reconcile/limits/stall.h"

#include <algorithm>

#include "api/names.h"
#include "api/on_stall.h"
#include "api/pod.h"
#include "api/stall.h"

namespace reconcile {
namespace {

bool EndsWhenStalled(const Replicas& replicas) {
  return replicas.spec != nullptr &&
         api::StallPolicyOf(replicas.spec->template_json).action == api::StallPolicy::Action::kStop;
}

// Whether the program of the pod began, in its present attempt, after that time.
bool HasBegunAfter(const Pod& pod, base::Time time) {
  const auto statuses = api::ContainerStatuses(*pod.object);
  return std::none_of(statuses.begin(), statuses.end(), [time](const api::ContainerStatus& each) {
    return each.name == api::kContainerName && each.running_since && *each.running_since <= time;
  });
}

}  // namespace

std::string StallToEndFor(const JobState& state) {
  const auto types = state.Types();
  int32_t wanted = 0;
  for (const Replicas* const replicas : types) wanted += replicas->Wanted();
  if (wanted < 2 || std::none_of(
                        types.begin(), types.end(),
                        [](const Replicas* each) { return EndsWhenStalled(*each); })) {
    return "";
  }
  const auto stall = api::CurrentStall(*state.observed.job);
  if (!stall || stall->kind != "stalled") return "";
  bool is_running = false;
  for (const Replicas* const replicas : types) {
    for (const Pod& pod : replicas->pods) {
      if (!replicas->IsWanted(pod) || pod.phase != Phase::kRunning) continue;
      if (HasBegunAfter(pod, stall->since)) return "";  // the note is of an earlier attempt
      is_running = true;
    }
  }
  return is_running ? stall->text : "";
}

}  // namespace reconcile
