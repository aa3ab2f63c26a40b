// Events about pods (compat/pytorchjob.md 2.10).
//
// v1 repeats them on every pass and leaves it to the client to drop most. Here each is said once,
// and what has been said is read off the status:
//
// * The end of a pod. A failed pod is news in every pass that sees it, since that pass replaces it
//   or ends the job. Of succeeded ones as many are news as the stored count of the type lacks,
//   the ones that finished last.
// * Trouble of a pod that has not ended: waiting for its image, crashing and being restarted,
//   unschedulable. It is news when it is younger than status.lastReconcileTime, which is then set
//   to the time of the youngest, or to now if that is later: one status write for each new trouble,
//   and none for old ones. Kubernetes dates terminations and conditions; a container that waits has
//   no date of its own and takes the newest one that its pod shows, so the second of two waits of
//   one pod without anything dated in between is not told.
#pragma once

#include "reconcile/job_state.h"

namespace reconcile {

// `Pod: <namespace>.<pod> exited with code <n>` for pods whose end is news. Before RecordCounts().
void AnnounceExits(JobState& state);

void AnnounceAbnormalPods(JobState& state);

}  // namespace reconcile
