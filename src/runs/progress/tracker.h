// What the lines of one rank report since its start: steps, checkpoints, the time of its first
// line. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runs/progress/checkpoint_line.h"
#include "runs/progress/line.h"
#include "runs/progress/source_line.h"
#include "runs/progress/step_mark.h"

namespace runs {

// The most marks of one kind of lines; beyond it every second one is dropped, and from then on
// fewer are taken.
inline constexpr size_t kMostMarks = 16'384;

inline constexpr size_t kMostCheckpoints = 1024;

class Tracker {
 public:
  // A line without its prefix; the states of a progress bar are separated by carriage returns.
  void See(Millis at, std::string_view line);

  // From the kind of lines that reported the most steps: texts and bars count differently.
  const std::vector<StepMark>& steps() const;
  // From the last line that reported progress; scalars from the last lines that had them.
  const LineProgress& latest() const { return latest_; }
  std::optional<Millis> latest_at() const { return latest_at_; }
  std::optional<Millis> first_line() const { return first_line_; }
  const std::vector<CheckpointSpan>& checkpoints() const { return checkpoints_; }

 private:
  struct Series {
    std::vector<StepMark> marks;
    int64_t every = 1;  // of the incoming marks, one in this many is kept
    int64_t skipped = 0;
    int64_t seen = 0;
  };

  void SeePart(Millis at, std::string_view part);
  void Note(Millis at, const LineProgress& progress);
  static void Add(StepMark mark, Series& series);

  // By kind, "text" or "bar", and by a bar's number of steps.
  std::map<std::pair<std::string, int64_t>, Series> series_;
  LineProgress latest_;
  std::optional<Millis> latest_at_, first_line_;
  SourceLines source_;
  Checkpoints checkpoint_;
  std::vector<CheckpointSpan> checkpoints_;
};

}  // namespace runs
