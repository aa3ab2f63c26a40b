#include "arena/run/sweep_table.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "arena/run/sweep.h"
#include "base/clock.h"
#include "base/file.h"
#include "cli/table.h"

namespace arena {
namespace {

struct TrialRow {
  Trial trial;
  std::optional<TrialResult> result;

  std::string State() const {
    if (!result) return "PENDING";
    return result->exit_code == 0 ? "SUCCEEDED" : "FAILED";
  }
  // Nullopt for NaN, which is not a measurement.
  std::optional<double> Metric(const std::string& name) const {
    if (!result) return std::nullopt;
    const auto found = result->metrics.find(name);
    if (found == result->metrics.end() || std::isnan(found->second)) return std::nullopt;
    return found->second;
  }
};

std::set<std::string> MetricsOfAll(const std::vector<TrialRow>& rows) {
  std::set<std::string> names;
  for (const TrialRow& row : rows) {
    if (!row.result) continue;
    for (const auto& [name, value] : row.result->metrics) names.insert(name);
  }
  return names;
}

base::Result<std::vector<TrialRow>> ReadRows(const std::string& folder, const SweepQuery& query) {
  TRY_ASSIGN(const std::string text, base::ReadFile(folder + "/sweep.jsonl"));
  TRY_ASSIGN(std::vector<Trial> trials, ParseTrials(text));
  auto results = ParseResults(base::ReadFile(folder + "/files/trials.jsonl").value_or(""));
  std::vector<TrialRow> rows;
  for (Trial& trial : trials) {
    TrialRow& row = rows.emplace_back();
    if (auto found = results.find(trial.index); found != results.end()) row.result = found->second;
    row.trial = std::move(trial);
  }
  if (query.best.empty()) return rows;
  const auto has_it = [&](const TrialRow& row) { return row.Metric(query.best).has_value(); };
  if (std::none_of(rows.begin(), rows.end(), has_it)) {
    std::string known;
    for (const std::string& name : MetricsOfAll(rows)) known += (known.empty() ? "" : ", ") + name;
    return base::Fail(base::Code::kInvalidArgument,
                      fmt::format("--best \"{}\" is invalid: no trial has printed it{}", query.best,
                                  known.empty() ? "" : "; there are " + known));
  }
  std::stable_sort(rows.begin(), rows.end(), [&](const TrialRow& a, const TrialRow& b) {
    const auto left = a.Metric(query.best), right = b.Metric(query.best);
    if (!left || !right) return left.has_value() && !right.has_value();
    return query.is_max ? *left > *right : *left < *right;
  });
  return rows;
}

std::string Duration(const TrialRow& row) {
  if (!row.result) return "";
  const std::chrono::milliseconds took(row.result->ended - row.result->started);
  return fmt::format("{:.1f}s", static_cast<double>(took.count()) / 1000);
}

}  // namespace

bool IsSweep(const std::string& folder) {
  return !folder.empty() && ::access((folder + "/sweep.jsonl").c_str(), F_OK) == 0;
}

base::Result<std::string> RenderTrials(const std::string& folder, const SweepQuery& query) {
  TRY_ASSIGN(const std::vector<TrialRow> rows, ReadRows(folder, query));
  std::vector<std::string> names;
  for (const std::string& name : MetricsOfAll(rows)) names.push_back(name);
  // What was asked for comes first.
  std::stable_partition(names.begin(), names.end(),
                        [&](const std::string& name) { return name == query.best; });
  cli::Table table;
  std::vector<std::string> heads = {"TRIAL"};
  if (!rows.empty()) {
    for (const auto& [name, value] : rows.front().trial.values) heads.push_back(name);
  }
  const size_t values = heads.size() - 1;
  heads.insert(heads.end(), {"STATUS", "EXIT", "DURATION"});
  heads.insert(heads.end(), names.begin(), names.end());
  table.Row(heads);
  for (const TrialRow& row : rows) {
    std::vector<std::string> cells = {fmt::to_string(row.trial.index)};
    for (size_t i = 0; i < values; ++i) {
      cells.push_back(i < row.trial.values.size() ? row.trial.values[i].second : "");
    }
    cells.insert(cells.end(),
                 {row.State(), row.result ? fmt::to_string(row.result->exit_code) : "-",
                  row.result ? Duration(row) : "-"});
    for (const std::string& name : names) {
      const bool is_known = row.result && row.result->metrics.contains(name);
      cells.push_back(is_known ? fmt::format("{:g}", row.result->metrics.at(name)) : "-");
    }
    table.Row(std::move(cells));
  }
  return table.Render();
}

base::Result<text::Json> TrialsToJson(const std::string& folder, const SweepQuery& query) {
  TRY_ASSIGN(const std::vector<TrialRow> rows, ReadRows(folder, query));
  text::Array trials;
  for (const TrialRow& row : rows) {
    text::Object values;
    for (const auto& [name, value] : row.trial.values) values[name] = value;
    text::Object metrics;
    if (row.result) {
      for (const auto& [name, value] : row.result->metrics) {
        metrics[name] = std::isfinite(value) ? text::Json(value) : text::Json(nullptr);
      }
    }
    text::Object trial{{"index", row.trial.index},
                       {"values", std::move(values)},
                       {"status", row.State()},
                       {"exitCode", row.result ? text::Json(row.result->exit_code) : nullptr},
                       {"seconds", nullptr},
                       {"lastLine", row.result ? row.result->last_line : ""},
                       {"metrics", std::move(metrics)}};
    if (row.result) {
      trial["seconds"] = static_cast<double>(row.result->ended - row.result->started) / 1000;
    }
    trials.emplace_back(std::move(trial));
  }
  return text::Json(std::move(trials));
}

base::Result<std::string> FailedGrid(const std::string& folder) {
  TRY_ASSIGN(const std::vector<TrialRow> rows, ReadRows(folder, {}));
  std::string grid;
  for (const TrialRow& row : rows) {
    if (row.State() != "FAILED") continue;
    text::Object values;
    for (const auto& [name, value] : row.trial.values) values[name] = value;
    grid += text::ToJson(values) + "\n";
  }
  if (!grid.empty()) return grid;
  return base::Fail(base::Code::kNotFound, "none of its trials has failed");
}

}  // namespace arena
