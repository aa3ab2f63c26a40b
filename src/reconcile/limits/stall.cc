#include "reconcile/limits/stall.h"

#include <algorithm>
#include <chrono>

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

// Whether the program of the pod began, in its present attempt, after the second of the note.
bool HasBegunAfter(const Pod& pod, base::Time noted) {
  const auto training = api::StatusOfTraining(*pod.object);
  return !training || !training->running_since ||
         std::chrono::floor<std::chrono::seconds>(*training->running_since) > noted;
}

// An elastic job goes on without the pods that find no room.
bool HasNoRoom(const JobState& state, const Pod& pod) {
  const text::Json* const scheduled = api::FindCondition(*pod.object, "PodScheduled");
  return state.job.elastic_policy && pod.phase == Phase::kPending && scheduled != nullptr &&
         text::GetString(*scheduled, {"status"}) == "False";
}

}  // namespace

std::string StallToEndFor(const JobState& state) {
  const auto stall = api::CurrentStall(*state.observed.job);
  if (!stall || stall->kind != "stalled") return "";
  const auto types = state.Types();
  int32_t wanted = 0;
  for (const Replicas* const replicas : types) wanted += replicas->Wanted();
  const bool is_to_end = std::any_of(types.begin(), types.end(), [](const Replicas* replicas) {
    return EndsWhenStalled(*replicas);
  });
  if (wanted < 2 || !is_to_end) return "";
  int32_t running = 0;
  int32_t succeeded = 0;
  int32_t without_room = 0;
  for (const Replicas* const replicas : types) {
    for (const Pod& pod : replicas->pods) {
      if (!replicas->IsWanted(pod) || pod.is_terminating) continue;
      if (pod.phase == Phase::kSucceeded) ++succeeded;
      if (HasNoRoom(state, pod)) ++without_room;
      if (pod.phase != Phase::kRunning) continue;
      if (HasBegunAfter(pod, stall->since)) return "";  // the note is of an earlier attempt
      ++running;
    }
  }
  // Ranks that wait for a pod that is still to start, such as one that fetches its code, are
  // healthy.
  const int32_t least =
      state.job.elastic_policy ? state.job.elastic_policy->min_replicas.value_or(1) : 1;
  if (running < 1 || running + succeeded < least) return "";
  return running + succeeded + without_room == wanted ? stall->text : "";
}

}  // namespace reconcile
