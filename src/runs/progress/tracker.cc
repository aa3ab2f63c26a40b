#include "runs/progress/tracker.h"

#include <algorithm>
#include <cmath>

#include "base/strings.h"

namespace runs {
namespace {

constexpr size_t kMostKinds = 16;
// Epochs count as steps if there are no steps: in thousandths, because Hugging Face reports
// fractions.
constexpr double kStepsOfAnEpoch = 1000;

std::optional<StepMark> MarkOf(Millis at, const LineProgress& progress) {
  const bool has_epoch = progress.epoch && *progress.epoch >= 0 && *progress.epoch < 1e9;
  if (progress.step) {
    if (progress.is_bar && *progress.step == 0) return std::nullopt;  // it is about to begin
    const bool is_whole = has_epoch && *progress.epoch == std::floor(*progress.epoch);
    return StepMark{at, *progress.step, is_whole ? static_cast<int64_t>(*progress.epoch) : 0};
  }
  if (!has_epoch) return std::nullopt;
  return StepMark{at, std::llround(*progress.epoch * kStepsOfAnEpoch), 0};
}

void Merge(const LineProgress& from, LineProgress& into) {
  if (from.step) {
    into.step = from.step;
    into.seconds_left = from.seconds_left;
  }
  if (from.steps) into.steps = from.steps;
  if (from.epoch) into.epoch = from.epoch;
  if (from.epochs) into.epochs = from.epochs;
  for (const auto& [name, value] : from.scalars) {
    const auto known = std::find_if(into.scalars.begin(), into.scalars.end(),
                                    [&name](const auto& one) { return one.first == name; });
    if (known != into.scalars.end()) {
      known->second = value;
    } else if (into.scalars.size() < kMostKinds) {
      into.scalars.emplace_back(name, value);
    }
  }
}

}  // namespace

void Tracker::See(Millis at, std::string_view line) {
  if (source_.Contain(line)) return;
  while (!line.empty()) {
    const size_t end = std::min(line.find('\r'), line.size());
    SeePart(at, line.substr(0, end));
    line.remove_prefix(std::min(end + 1, line.size()));
  }
}

void Tracker::SeePart(Millis at, std::string_view part) {
  part = base::Trim(part);
  if (part.empty()) return;
  if (!first_line_) first_line_ = at;
  const auto span = checkpoint_.See(at, part);
  if (span && checkpoints_.size() < kMostCheckpoints) checkpoints_.push_back(*span);
  const auto progress = ProgressIn(part);
  if (progress && IsOfTraining(*progress)) Note(at, *progress);
}

void Tracker::Note(Millis at, const LineProgress& progress) {
  Merge(progress, latest_);
  latest_at_ = at;
  const auto mark = MarkOf(at, progress);
  if (!mark) return;
  const std::pair<std::string, int64_t> kind = {progress.is_bar ? "bar"
                                                : progress.step ? "text"
                                                                : "epoch",
                                                progress.is_bar ? progress.steps.value_or(0) : 0};
  if (!series_.contains(kind) && series_.size() >= kMostKinds) return;
  Add(*mark, series_[kind]);
}

void Tracker::Add(StepMark mark, Series& series) {
  ++series.seen;
  std::vector<StepMark>& marks = series.marks;
  const bool goes_back = !marks.empty() && mark.step < marks.back().step;
  if (!goes_back && ++series.skipped < series.every) return;
  series.skipped = 0;
  marks.push_back(mark);
  if (marks.size() < kMostMarks) return;
  series.every *= 2;
  std::vector<StepMark> kept;
  for (size_t i = 0; i < marks.size(); ++i) {
    const bool ends = i + 1 == marks.size() || marks[i + 1].step < marks[i].step;
    const bool begins = i == 0 || marks[i].step < marks[i - 1].step;
    if (i % 2 == 0 || begins || ends) kept.push_back(marks[i]);
  }
  // Numbers that decrease at every second mark are not steps.
  if (kept.size() >= kMostMarks) kept.erase(kept.begin(), kept.begin() + kMostMarks / 2);
  marks = std::move(kept);
}

const std::vector<StepMark>& Tracker::steps() const {
  static const std::vector<StepMark> kNone;
  const Series* most = nullptr;
  for (const auto& [kind, series] : series_) {
    // If both have as many, the text's, because it is printed when a step is complete.
    if (most == nullptr || series.seen >= most->seen) most = &series;
  }
  return most == nullptr ? kNone : most->marks;
}

}  // namespace runs
