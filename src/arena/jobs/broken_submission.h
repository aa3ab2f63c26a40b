// Submissions to Kubernetes that were broken off. Such a submission is several requests;
// the job's is the first: until the last of them the job is marked with who makes it. Whoever comes
// upon the mark of one who is gone takes the job back, and with it all that it owns.
#pragma once

#include <string>

#include "arena/app/app.h"
#include "base/clock.h"
#include "cluster/client.h"
#include "text/json.h"

namespace arena {

// This process, as the value of api::kSubmittingAnnotation: boot id/pid namespace/pid/start.
std::string SubmitterMark();

// Whether the job is marked and its submitter is gone. Of one on another machine nothing is known:
// it is given far longer than its requests may take.
bool IsBrokenOff(const text::Json& job, base::Time now);

// Takes back such a job of this user's on Kubernetes, and says so. Whether it is gone.
bool TakeBackIfBrokenOff(cluster::Client& client, const Context& context, const text::Json& job);

}  // namespace arena
