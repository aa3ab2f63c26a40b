#include "arena/history/explained_trial.h"

#include <fmt/format.h>

#include <algorithm>

#include "arena/run/sweep_files.h"

namespace arena {

using base::Code;
using base::Fail;

base::Result<std::optional<ExplainedTrial>> ChooseTrial(const std::vector<TrialRow>& rows,
                                                        int64_t trials,
                                                        std::optional<int64_t> wanted,
                                                        const std::string& name) {
  ExplainedTrial chosen;
  chosen.trials = trials;
  const TrialRow* row = nullptr;
  for (const TrialRow& each : rows) {
    const bool has_failed = each.result && each.result->exit_code != 0;
    if (has_failed) chosen.failed.push_back(each.trial.index);
    if (wanted ? each.trial.index == *wanted : has_failed && row == nullptr) row = &each;
  }
  if (wanted && (*wanted < 0 || *wanted >= trials)) {
    return Fail(Code::kInvalidArgument,
                fmt::format("--trial {} is invalid: the trials of {} are 0 to {}", *wanted, name,
                            trials - 1));
  }
  if (wanted && (row == nullptr || !row->result)) {
    return Fail(Code::kInvalidArgument, fmt::format("trial {} of {} has not ended", *wanted, name));
  }
  if (row == nullptr) return std::nullopt;
  chosen.row = *row;
  return std::optional(std::move(chosen));
}

EndedTrial EvidenceToRead(const ExplainedTrial& trial, const std::string& folder) {
  const TrialRow& row = trial.row;
  return {TrialLabel(row.trial.values), row.result->exit_code,
          base::Time(std::chrono::milliseconds(row.result->ended)),
          IsSweep(folder) ? FolderOfTrial(folder + "/files", row.trial.index) + "/log" : "",
          row.result->last_line};
}

void AddTrialEnds(const std::string& folder, answers::Evidence& evidence) {
  const auto rows = ReadTrials(folder);
  if (!rows) return;
  for (const TrialRow& row : *rows) {
    if (!row.result) continue;
    const std::string name = FolderOfTrial("files", row.trial.index) + "/log";
    const auto of_trial = [&name](const answers::Rank& rank) { return rank.name == name; };
    // Trials do not wait for each other, so that those that succeeded are no evidence about the
    // others.
    if (row.result->exit_code == 0) {
      std::erase_if(evidence.ranks, of_trial);
      continue;
    }
    auto rank = std::find_if(evidence.ranks.begin(), evidence.ranks.end(), of_trial);
    if (rank == evidence.ranks.end()) {
      rank = evidence.ranks.emplace(evidence.ranks.end());
      rank->name = name;
    }
    rank->exit_code = row.result->exit_code;
    rank->ended = base::Time(std::chrono::milliseconds(row.result->ended));
  }
}

std::string Describe(const ExplainedTrial& trial, const std::string& command) {
  const int64_t index = trial.row.trial.index;
  std::string text = fmt::format("{} ({})", index, TrialLabel(trial.row.trial.values));
  if (!trial.HasFailed()) return text;
  const std::vector<int64_t>& failed = trial.failed;
  text += ": ";
  text += failed.size() == 1
              ? fmt::format("the only one of {} that failed", trial.trials)
              : fmt::format("one of {} that failed, of {}", failed.size(), trial.trials);
  const auto next =
      std::find_if(failed.begin(), failed.end(), [index](int64_t i) { return i > index; });
  if (next != failed.end()) {
    text += fmt::format("; the next: {} --trial {}", command, *next);
  }
  return text;
}

text::Json ToJson(const ExplainedTrial& trial) {
  text::Object values;
  for (const auto& [name, value] : trial.row.trial.values) values[name] = value;
  return text::Object{{"index", trial.row.trial.index},
                      {"values", std::move(values)},
                      {"failed", text::Array(trial.failed.begin(), trial.failed.end())},
                      {"trials", trial.trials}};
}

}  // namespace arena
