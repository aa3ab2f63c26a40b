// Events about pods (compat/pytorchjob.md 2.10).
//
// v1 emits them again in every reconciliation and leaves it to the client to drop most of them.
// Here each event is emitted once. The status shows which events have been emitted already:
//
// * A pod has ended. A failed pod is reported by every reconciliation that sees it, because that
//   reconciliation replaces the pod or ends the job. Of the succeeded pods, the stored count of the
//   type says how many have been reported: the rest are reported, the ones that ended last.
// * A pod that has not ended is in trouble: it waits for its image, crashes and is restarted, or is
//   unschedulable. The event is emitted when it is younger than status.lastReconcileTime, which is
//   then set to the time of the youngest event, or to now if that is later. Each new trouble costs
//   one status write, old ones cost none. Kubernetes dates terminations and conditions. A waiting
//   container has no date of its own and takes the newest date that its pod shows, so of two waits
//   of one pod with nothing dated in between, the second is not reported.
#pragma once

#include "reconcile/job_state.h"

namespace reconcile {

// Emits `Pod: <namespace>.<pod> exited with code <n>` for each pod whose end has not been reported.
// Call it before RecordCounts().
void AnnounceExits(JobState& state);

void AnnounceAbnormalPods(JobState& state);

}  // namespace reconcile
