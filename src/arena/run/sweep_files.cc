#include "arena/run/sweep_files.h"

#include <fmt/format.h>
#include <unistd.h>

#include "base/file.h"

namespace arena {

bool IsSweep(const std::string& folder) {
  return !folder.empty() && ::access((folder + "/sweep.jsonl").c_str(), F_OK) == 0;
}

std::string FolderOfTrial(const std::string& files, int64_t index) {
  return fmt::format("{}/trials/{}", files, index);
}

base::Result<std::vector<TrialRow>> ReadTrials(const std::string& folder) {
  TRY_ASSIGN(const std::string text, base::ReadFile(folder + "/sweep.jsonl"));
  TRY_ASSIGN(std::vector<Trial> trials, ParseTrials(text));
  auto results = ParseResults(base::ReadFile(folder + "/files/trials.jsonl").value_or(""));
  std::vector<TrialRow> rows;
  for (Trial& trial : trials) {
    TrialRow& row = rows.emplace_back();
    if (auto found = results.find(trial.index); found != results.end()) row.result = found->second;
    row.trial = std::move(trial);
  }
  return rows;
}

}  // namespace arena
