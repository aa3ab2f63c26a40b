#include "runs/ledger/stretches.h"

#include <algorithm>
#include <optional>
#include <tuple>

namespace runs {
namespace {

template <typename T>
T Median(std::vector<T>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

void Measure(Stretches& stretches) {
  std::vector<double> times;
  std::vector<int64_t> strides, first_strides;
  for (const Stretch& stretch : stretches.all) {
    for (size_t i = 1; i < stretch.marks.size(); ++i) {
      const StepMark& before = stretch.marks[i - 1];
      const StepMark& after = stretch.marks[i];
      const int64_t steps = after.step - before.step;
      if (after.epoch != before.epoch || steps <= 0 || after.at < before.at) continue;
      times.push_back(static_cast<double>(after.at - before.at) / static_cast<double>(steps));
      strides.push_back(steps);
      if (i == 1) first_strides.push_back(steps);
    }
  }
  if (times.empty()) return;
  stretches.usual = Median(times);
  stretches.stride = Median(strides);
  // If only some of the lines are kept, the first two of each stretch are among them.
  if (!first_strides.empty()) {
    stretches.stride = std::min(stretches.stride, Median(first_strides));
  }
}

// Numbers that decrease without an epoch that increases: either the next epoch, or a restart of the
// programs that their pods do not show.
class Splitter {
 public:
  Splitter(const Period& period, Stretches& into) : period_(period), into_(into) { Open(false); }

  void Add(StepMark mark) {
    mark.epoch += epochs_;
    std::vector<StepMark>& marks = into_.all.back().marks;
    if (!marks.empty()) {
      const StepMark& last = marks.back();
      if (!IsBefore(last, mark)) {
        if (!IsBefore(mark, last)) return;  // a repeated line
        if (mark.epoch == last.epoch && mark.step <= marks.front().step) {
          into_.can_compare = false;
          mark.epoch = last.epoch + 1;
          ++epochs_;
        } else {
          into_.all.back().period.end = std::clamp(last.at, period_.begin, period_.end);
          into_.all.back().period.was_cut_off = true;
          into_.all.back().period.goes_on = false;
          Open(true);
        }
      }
    }
    into_.all.back().marks.push_back(mark);
  }

 private:
  void Open(bool is_restart) {
    Stretch stretch;
    stretch.period = period_;
    stretch.is_restart = is_restart;
    if (is_restart) stretch.period.begin = into_.all.back().period.end;
    into_.all.push_back(std::move(stretch));
  }

  const Period& period_;
  Stretches& into_;
  int64_t epochs_ = 0;
};

using Mark = std::vector<StepMark>::const_iterator;

// The first mark that belongs to the period, among all since it began. Starts are known to the
// second: a mark within that second that continues earlier numbers came from the earlier programs.
Mark FirstOwn(const Stretches& before, const Period& period, Mark begin, Mark end) {
  constexpr Millis kResolution = 1000;
  if (before.all.empty() || before.all.back().marks.empty()) return begin;
  StepMark last = before.all.back().marks.back();
  while (begin != end && begin->at < period.begin + kResolution && IsBefore(last, *begin)) {
    last = *begin++;
  }
  return begin;
}

}  // namespace

bool IsBefore(const StepMark& a, const StepMark& b) {
  return std::tie(a.epoch, a.step) < std::tie(b.epoch, b.step);
}

Stretches StretchesOf(const Life& life, const std::vector<Period>& periods) {
  std::vector<StepMark> marks;
  for (const StepMark& mark : life.steps) {
    const bool is_sane = mark.step >= 0 && mark.step < kMostSteps && mark.epoch >= 0 &&
                         mark.epoch < INT32_MAX && mark.at > -kLatest && mark.at < kLatest;
    if (is_sane) marks.push_back(mark);
  }
  std::stable_sort(marks.begin(), marks.end(),
                   [](const StepMark& a, const StepMark& b) { return a.at < b.at; });
  Stretches stretches;
  Mark mark = marks.begin();
  std::optional<Splitter> splitter;
  for (size_t i = 0; i < periods.size(); ++i) {
    // Ends are known to the second: marks up to the next period's beginning belong to this one.
    const Millis end = i + 1 < periods.size() ? periods[i + 1].begin : INT64_MAX;
    while (mark != marks.end() && mark->at < periods[i].begin) ++mark;
    const Mark next =
        std::find_if(mark, marks.cend(), [end](const StepMark& one) { return one.at >= end; });
    const Mark own = FirstOwn(stretches, periods[i], mark, next);
    for (; mark != own; ++mark) splitter->Add(*mark);
    splitter.emplace(periods[i], stretches);
    for (; mark != next; ++mark) splitter->Add(*mark);
  }
  Measure(stretches);
  return stretches;
}

}  // namespace runs
