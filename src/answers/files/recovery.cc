#include "answers/files/recovery.h"

#include <algorithm>
#include <initializer_list>
#include <vector>

#include "answers/log/passed_tests.h"
#include "answers/log/ray_words.h"
#include "answers/program_words.h"
#include "answers/traceback.h"
#include "base/strings.h"

namespace answers {

bool IsRestart(std::string_view line) {
  return IsRestartOfRay(line) ||
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

bool HasFinishedTraining(const File& file) {
  const auto is_full = [](const Split& split) { return !base::Trim(split.line.text).empty(); };
  const auto last = std::find_if(file.lines.rbegin(), file.lines.rend(), is_full);
  if (last == file.lines.rend() || !ReportsSuccess(last->line.text) || !file.words.rows.empty()) {
    return false;
  }
  constexpr int kFewest = 2;
  int steps = 0;
  for (auto line = last + 1; line != file.lines.rend(); ++line) {
    steps += IsProgress(line->line.text);
    if (line->line.text.find(kTracebackHeader) != std::string::npos) return steps >= kFewest;
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
