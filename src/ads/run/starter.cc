#include "ads/run/starter.h"

#include <fmt/format.h>

#include <algorithm>

#include "ads/oci/service_error.h"

namespace ads {
namespace {

using base::Code;
using std::chrono::seconds;

constexpr seconds kLongestBetweenLooks{15};

std::string CountOfRuns(size_t count) {
  return fmt::format("{} run{}", count, count == 1 ? "" : "s");
}

base::Error Interrupted() { return {Code::kCancelled, "interrupted", 0}; }

template <typename Runs>
bool HoldsRun(const Runs& runs, const std::string& id) {
  return std::any_of(runs.begin(), runs.end(), [&](const auto& one) { return one.id == id; });
}

}  // namespace

RunStarter::RunStarter(oci::DataScience jobs, StartedJob job, StartSurroundings around)
    : jobs_(jobs),
      once_(jobs.Once()),
      job_(std::move(job)),
      around_(std::move(around)),
      ending_(once_, around_.clock, around_.pause) {}

base::Result<std::vector<oci::JobRun>> RunStarter::Start(const std::vector<text::Json>& bodies) {
  const auto name_of = [](const text::Json& body) {
    return std::string(text::GetString(body, {"displayName"}));
  };
  for (const text::Json& body : bodies) names_.insert(name_of(body));
  for (const text::Json& body : bodies) {
    auto run = jobs_.CreateJobRun(body);
    if (!run) {
      std::string lost = oci::MayBeDone(run.error()) ? name_of(body) : "";
      const bool is_interrupted = around_.interrupts.HasCome();
      return base::Fail(
          RollBack(is_interrupted ? Interrupted() : std::move(run.error()), std::move(lost)));
    }
    created_.push_back(std::move(*run));
    if (around_.interrupts.HasCome()) {
      return base::Fail(RollBack(Interrupted(), ""));
    }
  }
  return created_;
}

void RunStarter::Note(const std::string& run_id, std::string state) {
  (void)around_.err.Write(fmt::format("Cancelling Job Run: {}\n", run_id));
  ends_.push_back({run_id, std::move(state)});
}

// Finds runs whose answers were lost.
void RunStarter::FindRuns() {
  const auto runs = once_.ListJobRuns(job_.id, job_.compartment_id);
  if (!runs) {
    const bool says_nothing = runs.error().code == Code::kCancelled && !list_error_.empty();
    if (!says_nothing) list_error_ = runs.error().message;
    return;
  }
  list_error_.clear();
  for (const oci::JobRun& run : *runs) {
    if (!names_.contains(run.name) || HoldsRun(job_.before, run.id) || HoldsRun(ends_, run.id)) {
      continue;
    }
    Note(run.id, run.state);
    if (run.name == lost_) lost_.clear();
  }
}

bool RunStarter::IsUndone(base::Duration elapsed) const {
  const bool is_searching = !lost_.empty() || !list_error_.empty();
  if (is_searching && elapsed < kLostLimit) return false;
  return std::all_of(ends_.begin(), ends_.end(),
                     [](const EndingRun& run) { return run.IsOver() || run.is_refused; });
}

base::Error RunStarter::RollBack(base::Error why, std::string lost) {
  (void)around_.err.Write(
      fmt::format("{}: the start of job {} is undone (Ctrl-C: at once, and what is left is told)\n",
                  why.message, job_.id));
  around_.interrupts.Rearm();
  lost_ = std::move(lost);
  for (const oci::JobRun& run : created_) Note(run.id, run.state);
  const auto begun = around_.clock.Steady();
  base::Duration pause = seconds(1);
  for (bool is_first = true;; is_first = false) {
    if (is_first || !lost_.empty() || !list_error_.empty()) FindRuns();
    for (EndingRun& run : ends_) {
      if (!run.IsOver() && !run.is_refused) ending_.Urge(run);
    }
    const auto elapsed = std::chrono::duration_cast<base::Duration>(around_.clock.Steady() - begun);
    if (IsUndone(elapsed) || elapsed >= kRollBackLimit || around_.interrupts.HasCome()) break;
    around_.pause(pause);
    pause = std::min<base::Duration>(2 * pause, kLongestBetweenLooks);
  }
  why.message += Outcome();
  if (job_.is_new && ends_.empty() && lost_.empty() && list_error_.empty()) {
    why.message += RemoveJob();
  }
  return why;
}

std::string RunStarter::OutcomeOfEnded() const {
  std::string text;
  const auto cancelled = static_cast<size_t>(std::count_if(
      ends_.begin(), ends_.end(), [](const EndingRun& run) { return run.state == "CANCELED"; }));
  if (cancelled > 0) {
    text += fmt::format("; {} of job {} {} cancelled", CountOfRuns(cancelled), job_.id,
                        cancelled == 1 ? "was" : "were");
  }
  for (const EndingRun& run : ends_) {
    if (!run.IsOver() || run.state == "CANCELED") continue;
    text += fmt::format("; run {} had ended: {}", run.id, run.state);
  }
  return text;
}

std::string RunStarter::OutcomeOfLeft() const {
  std::string left, commands;
  for (const EndingRun& run : ends_) {
    if (run.IsOver()) continue;
    const std::string state = run.state.empty() ? "its state is not known" : run.state;
    left += fmt::format("{}{} ({}{}{})", left.empty() ? "" : ", ", run.id, state,
                        run.why.empty() ? "" : ": ", run.why);
    // For an existing job, the list contains more runs than these.
    if (!job_.is_new) {
      commands += fmt::format("{}`{} opctl cancel {}`", commands.empty() ? "" : ", ",
                              around_.program, run.id);
    }
  }
  if (left.empty()) return "";
  if (job_.is_new) commands = fmt::format("`{} opctl cancel {}`", around_.program, job_.id);
  return fmt::format("; STILL RUNNING, and to be cancelled by you: {}: {}", left, commands);
}

std::string RunStarter::Outcome() const {
  std::string text = OutcomeOfEnded() + OutcomeOfLeft();
  if (!list_error_.empty()) {
    text += fmt::format("; the runs of job {} could not be listed ({})", job_.id, list_error_);
  }
  if (!lost_.empty()) {
    text += fmt::format(
        "; the answer about run {} was lost, and it MAY STILL BE RUNNING: `{} opctl watch {}` "
        "shows the runs of the job",
        lost_, around_.program, job_.id);
  }
  return text;
}

// A job without runs would be useless.
std::string RunStarter::RemoveJob() {
  if (jobs_.DeleteJob(job_.id)) return fmt::format("; the job {} was deleted", job_.id);
  return fmt::format("; the job {} is left, without runs: `{} opctl delete {}`", job_.id,
                     around_.program, job_.id);
}

}  // namespace ads
