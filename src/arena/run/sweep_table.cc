#include "arena/run/sweep_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/clock.h"
#include "cli/table.h"

namespace arena {
namespace {

std::string StateOfTrial(const TrialRow& row) {
  if (!row.result) return "PENDING";
  return row.result->exit_code == 0 ? "SUCCEEDED" : "FAILED";
}

// Returns nullopt for NaN, which is not a measurement.
std::optional<double> MetricOf(const TrialRow& row, const std::string& name) {
  if (!row.result) return std::nullopt;
  const auto found = row.result->metrics.find(name);
  if (found == row.result->metrics.end() || std::isnan(found->second)) return std::nullopt;
  return found->second;
}

std::set<std::string> MetricsOfAll(const std::vector<TrialRow>& rows) {
  std::set<std::string> names;
  for (const TrialRow& row : rows) {
    if (!row.result) continue;
    for (const auto& [name, value] : row.result->metrics) names.insert(name);
  }
  return names;
}

// Returns the names of the trials' values, in the order of their first appearance.
std::vector<std::string> ValuesOfAll(const std::vector<TrialRow>& rows) {
  std::vector<std::string> names;
  std::set<std::string> known;
  for (const TrialRow& row : rows) {
    for (const auto& [name, value] : row.trial.values) {
      if (known.insert(name).second) names.push_back(name);
    }
  }
  return names;
}

base::Result<std::vector<TrialRow>> SortedBy(std::vector<TrialRow> rows, const SweepQuery& query) {
  if (query.best.empty()) return rows;
  const auto has_it = [&](const TrialRow& row) { return MetricOf(row, query.best).has_value(); };
  if (std::none_of(rows.begin(), rows.end(), has_it)) {
    std::string known;
    for (const std::string& name : MetricsOfAll(rows)) known += (known.empty() ? "" : ", ") + name;
    return base::Fail(base::Code::kInvalidArgument,
                      fmt::format("--best \"{}\" is invalid: no trial has printed it{}", query.best,
                                  known.empty() ? "" : "; there are " + known));
  }
  std::stable_sort(rows.begin(), rows.end(), [&](const TrialRow& a, const TrialRow& b) {
    const auto left = MetricOf(a, query.best), right = MetricOf(b, query.best);
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

base::Result<std::string> RenderTrials(std::vector<TrialRow> unsorted, const SweepQuery& query) {
  TRY_ASSIGN(const std::vector<TrialRow> rows, SortedBy(std::move(unsorted), query));
  std::vector<std::string> names;
  for (const std::string& name : MetricsOfAll(rows)) names.push_back(name);
  // The metric that the user asked for comes first.
  std::stable_partition(names.begin(), names.end(),
                        [&](const std::string& name) { return name == query.best; });
  cli::Table table;
  const std::vector<std::string> valued = ValuesOfAll(rows);
  std::vector<std::string> heads = {"TRIAL"};
  heads.insert(heads.end(), valued.begin(), valued.end());
  heads.insert(heads.end(), {"STATUS", "EXIT", "DURATION"});
  heads.insert(heads.end(), names.begin(), names.end());
  table.Row(heads);
  for (const TrialRow& row : rows) {
    std::vector<std::string> cells = {fmt::to_string(row.trial.index)};
    const std::map<std::string, std::string> own(row.trial.values.begin(), row.trial.values.end());
    for (const std::string& name : valued) {
      const auto value = own.find(name);
      cells.push_back(value == own.end() ? "-" : value->second);
    }
    cells.insert(cells.end(),
                 {StateOfTrial(row), row.result ? fmt::to_string(row.result->exit_code) : "-",
                  row.result ? Duration(row) : "-"});
    for (const std::string& name : names) {
      const bool is_known = row.result && row.result->metrics.contains(name);
      cells.push_back(is_known ? fmt::format("{:g}", row.result->metrics.at(name)) : "-");
    }
    table.Row(std::move(cells));
  }
  return table.Render();
}

base::Result<text::Json> TrialsToJson(std::vector<TrialRow> unsorted, const SweepQuery& query) {
  TRY_ASSIGN(const std::vector<TrialRow> rows, SortedBy(std::move(unsorted), query));
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
                       {"status", StateOfTrial(row)},
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

base::Result<std::string> FailedGrid(const std::vector<TrialRow>& rows) {
  std::string grid;
  for (const TrialRow& row : rows) {
    if (StateOfTrial(row) != "FAILED") continue;
    text::Object values;
    for (const auto& [name, value] : row.trial.values) values[name] = value;
    grid += text::ToJson(values) + "\n";
  }
  if (!grid.empty()) return grid;
  return base::Fail(base::Code::kNotFound, "none of its trials has failed");
}

}  // namespace arena
