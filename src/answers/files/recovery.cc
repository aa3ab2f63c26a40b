#include "answers/files/recovery.h"

#include <algorithm>
#include <initializer_list>
#include <vector>

#include "answers/exit_finding.h"
#include "answers/log/passed_tests.h"
#include "answers/log/ray_words.h"
#include "answers/program_words.h"
#include "answers/rank_number.h"
#include "answers/symptoms.h"
#include "base/machine/signal_name.h"
#include "base/strings.h"

namespace answers {
namespace {

// What a trainer prints when it has made all its steps: Lightning, Hugging Face's Trainer, others.
bool EndsTraining(std::string_view line) {
  const bool is_lightnings = line.find("`Trainer.fit` stopped: `max_") != line.npos &&
                             line.find("` reached.") != line.npos;
  return is_lightnings || line.starts_with("{'train_runtime': ") || ReportsSuccess(line);
}

}  // namespace

std::optional<RestartedRank> ReadRestart(std::string_view line) {
  constexpr std::string_view kRank = "muster-launch: rank ", kFailed = ") failed, ";
  constexpr std::string_view kCode = "exit code ";
  constexpr int kLastSignal = 64;
  const size_t failed = line.find(kFailed);
  const size_t end = line.find(": restart ");
  if (!line.starts_with(kRank) || failed == line.npos || end == line.npos || end < failed) {
    return std::nullopt;
  }
  const std::string_view number = line.substr(kRank.size());
  const auto rank = RankNumber(number.substr(0, number.find(' ')));
  if (!rank) return std::nullopt;
  const size_t how = failed + kFailed.size();
  const std::string_view words = line.substr(how, end - how);
  RestartedRank found{*rank, 1};
  if (words.starts_with(kCode)) {
    const auto code = base::ParseInt(words.substr(kCode.size()));
    if (code && *code > 0 && *code < kSignalBase) found.exit_code = static_cast<int>(*code);
  }
  for (int signal = 1; signal <= kLastSignal; ++signal) {
    if (words == base::SignalName(signal)) found.exit_code = kSignalBase + signal;
  }
  return found;
}

bool IsRestart(std::string_view line) {
  return IsRestartOfRay(line) || ReadRestart(line) ||
         line.find("; will restart worker group") != std::string_view::npos ||
         line.find("] Restarting worker group") != std::string_view::npos;
}

bool HasRayFinished(const File& file) {
  std::vector<std::string_view> sources;
  for (const Split& split : file.lines) sources.push_back(split.pod);
  return HasFinishedByRay(file.texts, sources);
}

bool HasRecovered(const File& file) {
  const auto restart = std::find_if(file.lines.rbegin(), file.lines.rend(),
                                    [](const Split& split) { return IsRestart(split.line.text); });
  if (restart == file.lines.rend()) return false;
  const auto has = [&](std::initializer_list<std::string_view> words) {
    return std::any_of(restart.base(), file.lines.end(), [&words](const Split& split) {
      return std::any_of(words.begin(), words.end(), [&split](std::string_view word) {
        return split.line.text.find(word) != std::string::npos;
      });
    });
  };
  return has({"worker group successfully finished"}) &&
         !has({"Root Cause (first observed failure)", "failed (exitcode: ", "srun: error: "});
}

bool HasTrainedToTheEnd(const File& file) {
  constexpr size_t kFewestSteps = 3, kMostBehind = 4;
  if (!file.words.rows.empty()) return false;
  size_t behind = 0, steps = 0;
  bool has_ended = false;
  for (auto line = file.lines.rbegin(); line != file.lines.rend(); ++line) {
    const std::string_view text = line->line.text;
    if (base::Trim(text).empty()) continue;
    if (MentionsFailure(text)) return has_ended && steps >= kFewestSteps;
    if (line->HasSource()) continue;
    if (has_ended) {
      steps += IsProgress(text);
      continue;
    }
    has_ended = EndsTraining(text);
    if (!has_ended && ++behind > kMostBehind) return false;
  }
  return false;
}

bool HavePassedTests(const File& file) {
  if (!EndsWithPassedTests(file.texts)) return false;
  const auto last = std::find_if(file.lines.rbegin(), file.lines.rend(), [](const Split& split) {
    return !base::Trim(split.line.text).empty();
  });
  return !last->HasSource() ||
         std::all_of(file.lines.begin(), file.lines.end(), [&last](const Split& split) {
           return split.rank == last->rank && split.local_rank == last->local_rank &&
                  split.pod == last->pod;
         });
}

}  // namespace answers
