// The reported progress of a run, with its sources and times, for as long as its record is kept:
// the latest of each source, and one value of each scalar per second, fewer of older ones. Pure.
// Its file is text, a line for each report, in order:
//   s 0 log of train-master-0          a source, with its number
//   n 0 loss                           a scalar's name
//   p 0 1764000000123 12 100 1.5 3 12 90 0=0.51    source, time in ms, step, steps, epoch, epochs,
//                                      percent, seconds left ("-": not given), values by name
//   c 1764000000123 1764000003123 0    a checkpoint: from, to, 1 if it was loaded
//   w 1764000000123 1764000005123 data looks    a wait, and its source (wait_span.h)
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runs/progress/checkpoint_line.h"
#include "runs/progress/source_progress.h"
#include "runs/progress/step_mark.h"
#include "runs/progress/wait_span.h"
#include "text/json.h"

namespace runs {

// The source for the log of a pod: "log of train-master-0".
std::string SourceOfLog(std::string_view pod);

inline constexpr size_t kMostSources = 16;
inline constexpr size_t kMostNames = 256;  // further scalars are not kept
inline constexpr size_t kMostValues = 32;  // per second and source
inline constexpr size_t kMostKeptCheckpoints = 4096;
inline constexpr size_t kMostKeptWaits = 16'384;
// in addition to those of ranks (rank_history.h)
inline constexpr size_t kMostBytesOfAnHour = 400'000;
// How often the budget begins anew with an hour that is earlier than the one before: clocks are set
// back, but a clock that goes back and forth all the time must not make the file grow without end.
inline constexpr int kMostSetBacks = 24;
// of the newest hour; beyond it, old values are thinned out
inline constexpr size_t kMostPinned = 4096;

class History {
 public:
  // Of the reports of one source within one second, between two calls of TakeNew, the last is kept.
  // Where its steps start again, the last line before and the first two after are kept, too: they
  // show what was lost, and how far apart the lines are. Beyond kMostBytesOfAnHour in an hour
  // nothing is kept, but Latest has it.
  void Note(const std::string& source, Millis at, const LineProgress& progress,
            std::optional<int64_t> percent);

  void NoteCheckpoint(const CheckpointSpan& span);
  // A measured wait that is known already is not added again.
  void NoteWait(const WaitSpan& span);

  // The lines that are new since the last call, to be appended to the file.
  std::string TakeNew();
  // The whole file, thinned out: for the last hour every second, for ten hours before it every
  // tenth, else one per minute.
  std::string Compacted();
  // The bytes appended since the last Compacted or Read.
  size_t appended() const { return appended_; }
  // Skips malformed lines: the last one may be cut.
  static History Read(std::string_view file);

  // The latest of each source, the newest first; among the logs of pods with the same progress the
  // master's comes first. If a source reports the number of steps but not their duration, that is
  // computed from its steps of the last ten minutes.
  std::vector<SourceProgress> Latest() const;
  // From the source with the most steps; its name is in `source`.
  std::vector<StepMark> Steps(std::string& source) const;
  const std::vector<CheckpointSpan>& checkpoints() const { return checkpoints_; }
  const std::vector<WaitSpan>& waits() const { return waits_; }
  // docs/reference/json.md, "progress": the values of each scalar, at most `points` of each.
  text::Json SeriesToJson(size_t points) const;
  bool is_empty() const { return sources_.empty(); }

 private:
  struct Sample {
    Millis at = 0;
    size_t source = 0;
    LineProgress progress;
    std::optional<int64_t> percent;
    std::vector<std::pair<size_t, double>> values;  // by name
    bool is_pinned = false;  // one of the first two since its source's steps began
  };
  // Since the source's steps began, or began again.
  struct Attempt {
    std::optional<int64_t> last_step;
    Millis last_at = 0;
    Millis second = 0;  // in which it began
    int64_t lines = 0;
  };

  std::optional<size_t> NumberOf(std::vector<std::string>& list, size_t most,
                                 const std::string& text, char kind);
  static std::string LineOf(const Sample& sample);
  void ReadLine(std::string_view line);
  std::optional<int64_t> SecondsLeft(size_t source) const;
  void Keep(Sample sample);
  bool BeginsAgain(Sample& sample);

  std::vector<std::string> sources_, names_;
  std::vector<Sample> samples_;
  std::vector<SourceProgress> latest_;  // by source
  std::vector<Attempt> attempts_;       // by source
  std::vector<CheckpointSpan> checkpoints_;
  std::vector<WaitSpan> waits_;
  size_t written_ = 0;  // samples that TakeNew has returned
  std::string head_;    // declarations that it has not returned
  size_t appended_ = 0;
  Millis hour_ = 0;
  size_t bytes_of_hour_ = 0;
  size_t new_bytes_ = 0;  // of samples since TakeNew, about
  int set_backs_ = 0;
};

}  // namespace runs
