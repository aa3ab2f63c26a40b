// What has been told of a run's progress, by whom and when, for as long as its record is kept:
// the last of each source, and a value a second of each scalar, fewer of older ones. Pure.
//
// Its file is text, a line for each thing that was told, in its order:
//
//   s 0 log of train-master-0          a source, with its number
//   n 0 loss                           a scalar's name
//   p 0 1764000000123 12 100 1.5 3 12 90 0=0.51    source, time in ms, step, steps, epoch, epochs,
//                                      percent, seconds left ("-": not told), values by name
//   c 1764000000123 1764000003123 0    a checkpoint: from, to, 1 of one that was loaded
//   w 1764000000123 1764000005123 data looks    a wait, and who told it (wait_span.h)
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

// The source of what the log of a pod tells: "log of train-master-0".
std::string SourceOfLog(std::string_view pod);

inline constexpr size_t kMostSources = 16;
inline constexpr size_t kMostNames = 256;  // further scalars are not kept
inline constexpr size_t kMostValues = 32;  // of a second, of one source
inline constexpr size_t kMostKeptCheckpoints = 4096;
inline constexpr size_t kMostKeptWaits = 16'384;
inline constexpr size_t kMostBytesOfAnHour = 400'000;  // beside those of ranks (rank_history.h)
inline constexpr size_t kMostPinned = 4096;  // of the newest, where old values become fewer

class History {
 public:
  // Of what one source tells within one second, between two calls of TakeNew, the last is kept; and
  // where its steps begin again, the last line before, and the first two since: they tell what was
  // lost, and how far apart the lines are. Of more than kMostBytesOfAnHour in an hour nothing is,
  // but Latest has it.
  void Note(const std::string& source, Millis at, const LineProgress& progress,
            std::optional<int64_t> percent);

  void NoteCheckpoint(const CheckpointSpan& span);
  // A measured one that is there already is not noted again.
  void NoteWait(const WaitSpan& span);

  // The lines that are new since the last call, for the end of the file.
  std::string TakeNew();
  // The whole file, of old seconds fewer: of the last hour each, of ten hours before every tenth,
  // else one a minute.
  std::string Compacted();
  // What has been appended since the last Compacted or Read.
  size_t appended() const { return appended_; }
  // Lines that are malformed are passed over: the last one may be cut.
  static History Read(std::string_view file);

  // The last of each source, the newest first; of the logs of pods that are as far, the master's
  // goes before. Where a source tells of how many steps there are and
  // not how long they take, that is computed from its steps of the last ten minutes.
  std::vector<SourceProgress> Latest() const;
  // Of the source that has told the most steps; its name in `source`.
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
  // Since the steps of a source began, or began again.
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
  size_t written_ = 0;  // samples that TakeNew has given
  std::string head_;    // declarations that it has not
  size_t appended_ = 0;
  Millis hour_ = 0;
  size_t bytes_of_hour_ = 0;
};

}  // namespace runs
