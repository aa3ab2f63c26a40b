#include "reconcile/wait_for.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/job/wait_for.h"
#include "reconcile/conditions.h"
#include "reconcile/outcome.h"

namespace reconcile {
namespace {

// For the version that was read, so that whoever suspends the job meanwhile is not overruled.
Write StartJob(const JobState& state) {
  Write write;
  write.verb = Write::Verb::kPatch;
  write.resource = &api::kPyTorchJobs;
  write.name = state.job.name;
  write.object = text::Object{
      {"metadata",
       text::Object{{"uid", state.job.uid},
                    {"resourceVersion",
                     text::GetString(*state.observed.job, {"metadata", "resourceVersion"})},
                    {"annotations", text::Object{{api::kWaitForAnnotation, nullptr}}}}},
      {"spec", text::Object{{"runPolicy", text::Object{{"suspend", false}}}}}};
  return write;
}

std::string WhyOver(const Awaited& job) {
  const bool is_gone = job.outcome == Awaited::Outcome::kGone;
  std::string why = fmt::format("job {}{}{}", job.name, api::kAwaitedMark,
                                is_gone ? "was deleted" : "has failed");
  if (!is_gone && !job.reason.empty()) why += ": " + job.reason;
  return why;
}

}  // namespace

bool EndWait(JobState& state) {
  const std::vector<Awaited>& awaited = state.observed.awaited;
  if (awaited.empty()) return false;
  for (const Awaited& job : awaited) {
    if (job.outcome != Awaited::Outcome::kFailed && job.outcome != Awaited::Outcome::kGone) {
      continue;
    }
    DropCondition(state.status, kSuspended);
    RecordFailure(state, {true, WhyOver(job)});
    return true;
  }
  const bool have_all_succeeded =
      std::all_of(awaited.begin(), awaited.end(),
                  [](const Awaited& job) { return job.outcome == Awaited::Outcome::kSucceeded; });
  if (have_all_succeeded) state.plan.writes.push_back(StartJob(state));
  return have_all_succeeded;
}

}  // namespace reconcile
