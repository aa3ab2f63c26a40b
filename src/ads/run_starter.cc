#include "ads/run_starter.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>

namespace ads {
namespace {

using base::Code;

volatile sig_atomic_t is_start_interrupted = 0;
void NoteInterrupt(int) { is_start_interrupted = 1; }

bool Holds(const std::vector<oci::JobRun>& runs, const oci::JobRun& run) {
  return std::any_of(runs.begin(), runs.end(),
                     [&](const oci::JobRun& one) { return one.id == run.id; });
}

}  // namespace

RunStarter::RunStarter(oci::DataScience& jobs, std::string job_id, std::string compartment_id,
                       std::vector<oci::JobRun> before, cli::Output& err)
    : jobs_(jobs),
      job_id_(std::move(job_id)),
      compartment_id_(std::move(compartment_id)),
      before_(std::move(before)),
      err_(err) {
  is_start_interrupted = 0;
  old_interrupt_ = ::signal(SIGINT, NoteInterrupt);
  old_terminate_ = ::signal(SIGTERM, NoteInterrupt);
}

RunStarter::~RunStarter() {
  ::signal(SIGINT, old_interrupt_);
  ::signal(SIGTERM, old_terminate_);
}

base::Result<std::vector<oci::JobRun>> RunStarter::Start(const std::vector<text::Json>& bodies) {
  for (const text::Json& body : bodies) {
    auto run = jobs_.CreateJobRun(body);
    if (!run) return base::Fail(RollBack(std::move(run.error())));
    created_.push_back(std::move(*run));
    if (is_start_interrupted != 0) {
      return base::Fail(RollBack({Code::kCancelled, "interrupted", 0}));
    }
  }
  return created_;
}

base::Error RunStarter::RollBack(base::Error why) {
  // The service knows of runs whose answers were lost.
  auto runs = jobs_.ListJobRuns(job_id_, compartment_id_);
  std::vector<oci::JobRun> ours = created_;
  for (const oci::JobRun& run : runs ? *runs : std::vector<oci::JobRun>()) {
    if (!Holds(ours, run) && !Holds(before_, run)) ours.push_back(run);
  }
  std::string left;
  size_t count = 0;
  for (const oci::JobRun& run : ours) {
    (void)err_.Write(fmt::format("Cancelling Job Run: {}\n", run.id));
    const auto cancelled = jobs_.CancelJobRun(run.id);
    if (cancelled || cancelled.error().code == Code::kConflict) {
      ++count;
    } else {
      left += fmt::format("{}{} ({})", left.empty() ? "" : ", ", run.id, cancelled.error().message);
    }
  }
  if (count > 0) {
    why.message += fmt::format("; {} run{} of job {} {} cancelled", count, count == 1 ? "" : "s",
                               job_id_, count == 1 ? "was" : "were");
  }
  if (!left.empty()) {
    why.message += fmt::format("; STILL RUNNING, and to be cancelled by you: {}", left);
  }
  return why;
}

}  // namespace ads
