// runPolicy.suspend (spec/pytorchjob-operator.md 2.7).
#pragma once

#include "reconcile/pass.h"

namespace reconcile {

// Takes everything away and says Suspended. startTime stays as it was.
void Suspend(Pass& pass);

// For a job that is not suspended: if it was, starts its time anew and says so.
void ResumeIfSuspended(Pass& pass);

}  // namespace reconcile
