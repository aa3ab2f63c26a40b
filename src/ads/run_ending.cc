#include "ads/run_ending.h"

#include <fmt/format.h>

#include <algorithm>

namespace ads {
namespace {

using base::Code;
using base::Fail;

constexpr std::chrono::milliseconds kShortestLook{200};

}  // namespace

base::Result<std::vector<oci::JobRun>> RunEnding::RunsOf(const std::string& job_id) {
  TRY_ASSIGN(const text::Json job, jobs_.GetJob(job_id));
  return jobs_.ListJobRuns(job_id, std::string(text::GetString(job, {"compartmentId"})));
}

base::Status RunEnding::Cancel(const std::string& run_id) {
  const auto cancelled = jobs_.CancelJobRun(run_id);
  if (cancelled || cancelled.error().code != Code::kConflict) return cancelled;
  const auto run = jobs_.GetJobRun(run_id);
  const bool is_over = run && (oci::IsTerminal(run->state) || run->state == "CANCELING");
  return is_over ? base::Status() : cancelled;
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
