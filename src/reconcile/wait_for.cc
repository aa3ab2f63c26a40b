#include "reconcile/wait_for.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/job/wait_for.h"
#include "reconcile/conditions.h"
#include "reconcile/outcome.h"

namespace reconcile {
namespace {

// On the version that was seen: whoever suspends the job meanwhile is not overruled.
Write StartJob(const Pass& pass) {
  Write write;
  write.verb = Write::Verb::kPatch;
  write.resource = &api::kPyTorchJobs;
  write.name = pass.job.name;
  write.object = text::Object{
      {"metadata",
       text::Object{{"uid", pass.job.uid},
                    {"resourceVersion",
                     text::GetString(*pass.observed.job, {"metadata", "resourceVersion"})},
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

bool EndWait(Pass& pass) {
  const std::vector<Awaited>& awaited = pass.observed.awaited;
  if (awaited.empty()) return false;
  for (const Awaited& job : awaited) {
    if (job.outcome != Awaited::Outcome::kFailed && job.outcome != Awaited::Outcome::kGone) {
      continue;
    }
    DropCondition(pass.status, kSuspended);
    RecordFailure(pass, {true, WhyOver(job)});
    return true;
  }
  const bool have_all_succeeded =
      std::all_of(awaited.begin(), awaited.end(),
                  [](const Awaited& job) { return job.outcome == Awaited::Outcome::kSucceeded; });
  if (have_all_succeeded) pass.plan.writes.push_back(StartJob(pass));
  return have_all_succeeded;
}

}  // namespace reconcile
