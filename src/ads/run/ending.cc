#include "ads/run/ending.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ads/oci/service_error.h"

namespace ads {
namespace {

using base::Code;
using base::Fail;

constexpr std::chrono::milliseconds kShortestLook{200};
constexpr std::chrono::seconds kLongestCancelling{60};

}  // namespace

base::Result<std::vector<oci::JobRun>> RunEnding::RunsOf(const std::string& job_id) {
  TRY_ASSIGN(const text::Json job, jobs_.GetJob(job_id));
  return jobs_.ListJobRuns(job_id, std::string(text::GetString(job, {"compartmentId"})));
}

// A run that the service does not cancel (409) may have ended: that is checked before the next
// attempt.
base::Status RunEnding::Cancel(const std::string& run_id) {
  const auto deadline = clock_.Steady() + kLongestCancelling;
  for (base::Duration pause = std::chrono::seconds(1);; pause *= 2) {
    auto cancelled = jobs_.Once().CancelJobRun(run_id);
    if (!cancelled && oci::IsPassing(cancelled.error())) cancelled = jobs_.CancelJobRun(run_id);
    if (cancelled || cancelled.error().code != Code::kConflict) return cancelled;
    const auto run = jobs_.GetJobRun(run_id);
    if (run && (oci::IsTerminal(run->state) || run->state == "CANCELING")) return {};
    if (clock_.Steady() + pause > deadline) return cancelled;
    pause_(pause);
  }
}

void RunEnding::Urge(EndingRun& run) {
  const auto note = [&](const base::Error& error) {
    const bool says_nothing = error.code == Code::kCancelled && !run.why.empty();
    if (!says_nothing) run.why = error.message;
  };
  base::Status cancelled;
  if (run.state != "CANCELING") cancelled = jobs_.CancelJobRun(run.id);
  if (!cancelled) {
    const base::Error& error = cancelled.error();
    // 409: impossible in this state; the state may change soon.
    run.is_refused =
        error.code != Code::kConflict && error.code != Code::kCancelled && !oci::IsPassing(error);
    note(error);
  }
  auto now = jobs_.GetJobRun(run.id);
  if (now) {
    run.state = std::move(now->state);
    if (cancelled || run.IsOver() || run.state == "CANCELING") run.why.clear();
  } else if (cancelled) {
    note(now.error());
  }
}

base::Result<oci::JobRun> RunEnding::AwaitEnd(const std::string& run_id, const EndWait& wait) {
  const auto deadline = clock_.Steady() + wait.limit;
  while (true) {
    TRY_ASSIGN(oci::JobRun run, jobs_.GetJobRun(run_id));
    if (oci::IsTerminal(run.state)) return run;
    if (clock_.Steady() >= deadline) {
      return Fail(Code::kTimeout, fmt::format("the job run {} is still {} after {} s", run_id,
                                              run.state, wait.limit.count()));
    }
    pause_(std::max<base::Duration>(wait.interval, kShortestLook));
  }
}

base::Status RunEnding::Delete(const oci::JobRun& run) {
  if (run.state == "DELETED") return {};
  if (!oci::IsTerminal(run.state)) {
    TRY(Cancel(run.id));
    TRY(AwaitEnd(run.id, {std::chrono::seconds(3), EndWait().limit}));
  }
  return jobs_.DeleteJobRun(run.id);
}

}  // namespace ads
