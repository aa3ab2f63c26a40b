// What the lines of one rank tell from its start on: steps, checkpoints, when it first spoke. Pure.
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

// Marks that are kept of one kind of lines; of more every second one goes, and from then on fewer
// are taken.
inline constexpr size_t kMostMarks = 16'384;

inline constexpr size_t kMostCheckpoints = 1024;

class Tracker {
 public:
  // A line without its prefix; one that a progress bar has drawn over holds carriage returns.
  void See(Millis at, std::string_view line);

  // Of the kind of lines that told the most of them: texts and bars count differently.
  const std::vector<StepMark>& steps() const;
  // As the last line says that told any; scalars of the last lines that had them.
  const LineProgress& latest() const { return latest_; }
  std::optional<Millis> latest_at() const { return latest_at_; }
  std::optional<Millis> first_line() const { return first_line_; }
  const std::vector<CheckpointSpan>& checkpoints() const { return checkpoints_; }

 private:
  struct Series {
    std::vector<StepMark> marks;
    int64_t every = 1;  // of the marks that come, one in so many is kept
    int64_t skipped = 0;
    int64_t seen = 0;
  };

  void SeePart(Millis at, std::string_view part);
  void Note(Millis at, const LineProgress& progress);
  static void Add(StepMark mark, Series& series);

  // By kind, "text" or "bar", and of how many steps a bar is.
  std::map<std::pair<std::string, int64_t>, Series> series_;
  LineProgress latest_;
  std::optional<Millis> latest_at_, first_line_;
  SourceLines source_;
  Checkpoints checkpoint_;
  std::vector<CheckpointSpan> checkpoints_;
};

}  // namespace runs
