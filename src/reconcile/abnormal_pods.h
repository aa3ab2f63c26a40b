// Events about pods (compat/pytorchjob.md 2.10).
//
// v1 emits them again in every reconciliation and leaves it to the client to drop most of them.
// Here each event is emitted once. The status shows which events have been emitted already:
//
// * A pod has ended. A failed pod is reported by every reconciliation that sees it, because that
//   reconciliation replaces the pod or ends the job. Of the succeeded pods, the stored count of the
//   type says how many have been reported: the rest are reported, the ones that ended last.
// * A pod that has not ended is in trouble: it waits for its image, crashes and is restarted, or is
//   unschedulable. The caller remembers which troubles have been announced: by text and date, so
//   that pods which are unschedulable in the same second each have their event. A process that
//   sees trouble of the job for the first time (it may just have started) emits the events that are
//   younger than status.lastReconcileTime, which is set with each new trouble to the time of the
//   youngest event, or to now if that is later. Kubernetes dates terminations and conditions. A
//   waiting container has no date of its own and takes the newest date that its pod shows.
#pragma once

#include "reconcile/job_state.h"

namespace reconcile {

// Emits `Pod: <namespace>.<pod> exited with code <n>` for each pod whose end has not been reported.
// Call it before RecordCounts().
void AnnounceExits(JobState& state);

// Also fills Plan::troubles.
void AnnounceAbnormalPods(JobState& state);

}  // namespace reconcile
