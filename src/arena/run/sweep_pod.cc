#include "arena/run/sweep_pod.h"

#include <fmt/format.h>

#include "base/strings.h"
#include "text/json.h"

namespace arena {
namespace {

constexpr std::string_view kSweepFolder = ".muster-sweep";
// The same text is in python/sweep.py, which prints it.
constexpr std::string_view kEnded = "trial ended: ";

}  // namespace

std::map<std::string, std::string> SweepFiles(const std::vector<Trial>& trials) {
  std::map<std::string, std::string> files;
  const auto add = [&files](std::string_view name, std::string content) {
    files[fmt::format("{}/{}", kSweepFolder, name)] = std::move(content);
  };
  add("sweep.py", std::string(kSweepProgram));
  add("printed_metrics.py", std::string(kPrintedMetricsModule));
  add("logged_scalars.py", std::string(kLoggedScalarsModule));
  add("sweep.jsonl", ToText(trials));
  return files;
}

std::string SweepCommand(std::string_view code_folder, int64_t parallel, int64_t gpus) {
  return fmt::format("exec python3 {}/{}/sweep.py --parallel={} --gpus={}", code_folder,
                     kSweepFolder, parallel, gpus);
}

bool IsTrialResult(std::string_view line) { return line.starts_with(kEnded); }

std::vector<TrialRow> TrialsOfLog(std::string_view log) {
  std::map<int64_t, TrialRow> rows;
  for (const std::string& line : base::Split(log, '\n')) {
    if (!IsTrialResult(line)) continue;
    const std::string_view json = std::string_view(line).substr(kEnded.size());
    const auto parsed = text::ParseJson(json);
    const text::Object* const values = parsed ? text::FindObject(*parsed, {"values"}) : nullptr;
    if (values == nullptr) continue;
    for (auto& [index, result] : ParseResults(json)) {
      TrialRow row;
      row.trial.index = index;
      for (const auto& value : *values) {
        if (!value.value().is_string()) continue;
        row.trial.values.emplace_back(value.key(), value.value().as_string());
      }
      row.result = result;
      rows[index] = std::move(row);
    }
  }
  std::vector<TrialRow> sorted;
  for (auto& [index, row] : rows) sorted.push_back(std::move(row));
  return sorted;
}

}  // namespace arena
