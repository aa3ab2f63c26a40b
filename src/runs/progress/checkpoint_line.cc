#include "runs/progress/checkpoint_line.h"

#include <array>
#include <charconv>
#include <cmath>

#include "base/strings.h"

namespace runs {
namespace {

using Kind = CheckpointLine::Kind;

constexpr size_t kMaxCheckpointLine = 1024;
constexpr double kLongest = 86'400;  // seconds
// If a line says that a checkpoint is saved, and nothing follows it for longer than this, the end
// of the save is not known.
constexpr Millis kLongestCheckpoint = 600'000;

struct KindWord {
  std::string_view word;
  Kind kind;
};
constexpr std::array<KindWord, 10> kKindWords = {{{"saving", Kind::kSaves},
                                                  {"saved", Kind::kSaved},
                                                  {"wrote", Kind::kSaved},
                                                  {"loading", Kind::kLoads},
                                                  {"restoring", Kind::kLoads},
                                                  {"resuming", Kind::kLoads},
                                                  {"loaded", Kind::kLoaded},
                                                  {"restored", Kind::kLoaded},
                                                  {"resumed", Kind::kLoaded},
                                                  {"load checkpoint", Kind::kLoads}}};

// "in 3.2s", "took 3.2 seconds".
std::optional<double> SecondsIn(std::string_view line) {
  for (const std::string_view word : {"in ", "took "}) {
    for (size_t at = 0; (at = line.find(word, at)) != std::string_view::npos; ++at) {
      double seconds = 0;
      const char* begin = line.data() + at + word.size();
      const auto read = std::from_chars(begin, line.data() + line.size(), seconds);
      if (read.ec != std::errc() || !(seconds >= 0) || seconds > kLongest) continue;
      std::string_view unit(read.ptr, static_cast<size_t>(line.data() + line.size() - read.ptr));
      unit = base::Trim(unit);
      if (unit.starts_with("ms")) return seconds / 1000;
      if (unit.starts_with('s')) return seconds;
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<CheckpointLine> CheckpointIn(std::string_view line) {
  if (line.size() > kMaxCheckpointLine) return std::nullopt;
  const std::string lower = base::ToLower(line);
  const bool is_named = lower.find("checkpoint") != std::string::npos ||
                        lower.find("ckpt") != std::string::npos ||
                        lower.find("from step") != std::string::npos;
  // Progress bars over a checkpoint's parts repeat it many times.
  if (!is_named || lower.find("%|") != std::string::npos) return std::nullopt;
  for (const KindWord& word : kKindWords) {
    if (lower.find(word.word) == std::string::npos) continue;
    return CheckpointLine{word.kind, SecondsIn(lower)};
  }
  return std::nullopt;
}

std::optional<CheckpointSpan> Checkpoints::See(Millis at, std::string_view line) {
  std::optional<CheckpointSpan> span;
  if (open_) {
    open_->end = at;
    if (at >= open_->begin && at - open_->begin <= kLongestCheckpoint) span = open_;
    open_.reset();
  }
  const auto found = CheckpointIn(line);
  if (!found) return span;
  const bool is_load = found->kind == Kind::kLoads || found->kind == Kind::kLoaded;
  const bool is_done = found->kind == Kind::kSaved || found->kind == Kind::kLoaded;
  if (!is_done) {
    open_ = CheckpointSpan{at, at, is_load};
  } else if (found->seconds) {
    span = CheckpointSpan{at - std::llround(*found->seconds * 1000), at, is_load};
  }
  return span;
}

}  // namespace runs
