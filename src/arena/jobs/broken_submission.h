// Submissions to Kubernetes that were broken off. A submission is several requests, the first of
// which creates the job, marked with the submitter until the last one is done. A command that finds
// the mark of a submitter that is gone deletes the job and everything that it owns.
#pragma once

#include <string>

#include "arena/app/app.h"
#include "base/clock.h"
#include "cluster/client.h"
#include "text/json.h"

namespace arena {

// This process, as the value of api::kSubmittingAnnotation: boot id/pid namespace/pid/start.
std::string SubmitterMark();

// Whether the job is marked and its submitter is gone. A submitter on another machine counts as
// gone after far longer than its requests may take.
bool IsBrokenOff(const text::Json& job, base::Time now);

// Deletes such a job of this user on Kubernetes, and says so. Returns whether it is gone.
bool TakeBackIfBrokenOff(cluster::Client& client, const Context& context, const text::Json& job);

}  // namespace arena
