#include "arena/history/report_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "api/names.h"
#include "api/object.h"
#include "cli/table.h"
#include "runs/ledger/advice.h"
#include "runs/ledger/ledger_json.h"

namespace arena {
namespace {

using runs::Bucket;
using runs::Ledger;
using runs::Millis;

constexpr const char* kUserAnnotation = "arena.kubeflow.org/username";
constexpr std::string_view kByLabel = "label=";
constexpr size_t kMostSources = 2;  // of each bucket in the table

// Formats as "1h02m03.004s", unrounded, so that the rows add up.
std::string Exact(Millis millis) {
  const int64_t hours = millis / 3'600'000;
  const int64_t minutes = millis / 60'000 % 60;
  const int64_t seconds = millis / 1000 % 60;
  const int64_t rest = millis % 1000;
  if (hours > 0) return fmt::format("{}h{:02}m{:02}.{:03}s", hours, minutes, seconds, rest);
  if (minutes > 0) return fmt::format("{}m{:02}.{:03}s", minutes, seconds, rest);
  return fmt::format("{}.{:03}s", seconds, rest);
}

// "1h2m", "34s".
std::string Rough(Millis millis) {
  const int64_t minutes = (millis + 30'000) / 60'000;
  if (millis < 99'500) return fmt::format("{:.0f}s", static_cast<double>(millis) / 1000);
  return minutes < 60 ? fmt::format("{}m", minutes)
                      : fmt::format("{}h{}m", minutes / 60, minutes % 60);
}

double Hours(int64_t millis) { return static_cast<double>(millis) / 3'600'000; }

double Share(int64_t part, int64_t all) {
  return all == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(all);
}

int64_t Wasted(const Ledger& ledger) {
  return ledger.gpu_millis() - ledger[Bucket::kSteps].gpu_millis;
}

std::string HowOf(Bucket bucket, const runs::Sum& sum) {
  if (bucket == Bucket::kUnknown) return "-";
  if (sum.estimated == 0) return "measured";
  if (sum.estimated == sum.millis) return "estimated";
  return fmt::format("{:.0f}% estimated", std::max(1.0, Share(sum.estimated, sum.millis)));
}

std::string SourcesOf(const runs::Sum& sum) {
  std::string text;
  for (size_t i = 0; i < std::min(sum.sources.size(), kMostSources); ++i) {
    text += (i == 0 ? "" : "; ") + sum.sources[i];
  }
  if (sum.sources.size() > kMostSources) text += "; ...";
  return text;
}

std::string AdviceOn(const Ledger& ledger) {
  const auto saving = runs::GreatestSaving(ledger);
  if (!saving) return "";
  const bool has_gpus = ledger.gpu_millis() > 0;
  const double share = has_gpus ? Share(saving->gpu_millis, ledger.gpu_millis())
                                : Share(saving->millis, ledger.wall());
  return fmt::format("What would have saved the most: {} ({}, {:.1f}% of {})\n  {}\n",
                     NameOf(saving->bucket), Rough(saving->millis), share,
                     has_gpus ? "the GPU-hours" : "the time", saving->text);
}

std::string StepsLine(const RunReport& report) {
  const runs::Life& life = report.life;
  if (report.is_sweep) {
    return fmt::format(
        "In a sweep, steps are the time in which successful trials ran (`muster show {}`).\n",
        report.run.job.summary.name);
  }
  if (life.steps.empty()) {
    return "No step was seen: print step numbers, so that the time in steps is known.\n";
  }
  const runs::StepFacts facts = FactsOfSteps(life);
  std::string line = fmt::format("Steps: up to {}", facts.last);
  if (facts.step_millis > 0) line += fmt::format(", {:.4g} s each", facts.step_millis / 1000);
  if (facts.repeated > 0) line += fmt::format(", {} repeated after a restart", facts.repeated);
  return line + "\n";
}

struct Group {
  std::vector<Ledger> ledgers;
  Ledger sum;
};

std::vector<std::pair<std::string, Group>> GroupsOf(const std::vector<RunReport>& reports,
                                                    const std::string& by) {
  std::map<std::string, Group> groups;
  for (const RunReport& report : reports) {
    groups[GroupOf(report.run.job.job, by)].ledgers.push_back(report.ledger);
  }
  std::vector<std::pair<std::string, Group>> sorted(groups.begin(), groups.end());
  for (auto& [name, group] : sorted) group.sum = runs::AddedUp(group.ledgers);
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    const int64_t left = Wasted(a.second.sum), right = Wasted(b.second.sum);
    if (left != right) return left > right;
    return a.second.sum.wall() - a.second.sum[Bucket::kSteps].millis >
           b.second.sum.wall() - b.second.sum[Bucket::kSteps].millis;
  });
  return sorted;
}

std::vector<std::string> FiguresOf(const Ledger& ledger) {
  const auto saving = runs::GreatestSaving(ledger);
  return {Rough(ledger.wall()),
          fmt::format("{:.1f}%", 100 * ledger.goodput()),
          fmt::format("{:.1f}%", 100 * ledger.effective()),
          fmt::format("{:.2f}", Hours(ledger.gpu_millis())),
          fmt::format("{:.2f}", Hours(Wasted(ledger))),
          saving ? fmt::format("{} ({})", NameOf(saving->bucket), Rough(saving->millis)) : "-"};
}

void AddRow(cli::Table& table, std::vector<std::string> heads, const Ledger& ledger) {
  for (std::string& figure : FiguresOf(ledger)) heads.push_back(std::move(figure));
  table.Row(std::move(heads));
}

}  // namespace

base::Status CheckGrouping(const std::string& by) {
  const bool is_label = by.starts_with(kByLabel) &&
                        api::IsQualifiedName(std::string_view(by).substr(kByLabel.size()));
  if (by.empty() || by == "user" || by == "queue" || is_label) return {};
  return base::Fail(base::Code::kInvalidArgument,
                    fmt::format("--by {}: give user, queue or label=KEY", by));
}

std::string GroupOf(const text::Json& job, const std::string& by) {
  std::string_view group;
  if (by == "user") {
    group = api::Annotation(job, kUserAnnotation);
  } else if (by == "queue") {
    group = api::Label(job, api::kKueueQueueLabel);
    if (group.empty()) {
      group = text::GetString(job, {"spec", "runPolicy", "schedulingPolicy", "queue"});
    }
  } else {
    group = api::Label(job, std::string_view(by).substr(kByLabel.size()));
  }
  return group.empty() ? "-" : std::string(group);
}

std::string RenderReport(const RunReport& report, const std::string& painted_state) {
  const Ledger& ledger = report.ledger;
  const api::TrainingSummary& summary = report.run.job.summary;
  std::string text = fmt::format("{} ({}) {}, {} since it was submitted, {} attempt{}\n",
                                 summary.name, report.run.id(), painted_state, Exact(ledger.wall()),
                                 ledger.attempts, ledger.attempts == 1 ? "" : "s");
  text += fmt::format("Goodput: {:.1f}% ({:.1f}% with the time that it was queued or suspended)\n",
                      100 * ledger.goodput(), 100 * ledger.effective());
  text += StepsLine(report);
  if (ledger.gpu_millis() > 0) {
    text += fmt::format("GPU-hours: {:.3f}, {:.3f} of them not in steps that were kept\n",
                        Hours(ledger.gpu_millis()), Hours(Wasted(ledger)));
  }
  cli::Table table;
  table.Row({"BUCKET", "TIME", "SHARE", "GPU-HOURS", "HOW", "FROM"});
  for (size_t i = 0; i < runs::kBuckets; ++i) {
    const runs::Sum& sum = ledger.sums[i];
    if (sum.millis == 0) continue;
    const auto bucket = static_cast<Bucket>(i);
    table.Row({std::string(NameOf(bucket)), Exact(sum.millis),
               fmt::format("{:.1f}%", Share(sum.millis, ledger.wall())),
               fmt::format("{:.3f}", Hours(sum.gpu_millis)), HowOf(bucket, sum), SourcesOf(sum)});
  }
  table.Row({"all", Exact(ledger.wall()), "100.0%",
             fmt::format("{:.3f}", Hours(ledger.gpu_millis())), "", ""});
  text += "\n" + table.Render();
  const std::string advice = report.is_sweep ? "" : AdviceOn(ledger);
  return advice.empty() ? text : text + "\n" + advice;
}

std::string RenderReports(const std::vector<RunReport>& reports, const std::string& by) {
  constexpr const char* kFigures[] = {"TIME",      "GOODPUT", "EFFECTIVE",
                                      "GPU-HOURS", "WASTED",  "MOST OF THE REST"};
  cli::Table table;
  std::vector<Ledger> all;
  for (const RunReport& report : reports) all.push_back(report.ledger);
  std::vector<std::string> heads = {"ID", "NAME", "STATUS"};
  if (!by.empty()) {
    heads = {by.starts_with(kByLabel) ? by.substr(kByLabel.size())
             : by == "user"           ? "USER"
                                      : "QUEUE",
             "RUNS"};
  }
  heads.insert(heads.end(), std::begin(kFigures), std::end(kFigures));
  table.Row(heads);
  if (by.empty()) {
    for (const RunReport& report : reports) {
      const api::TrainingSummary& summary = report.run.job.summary;
      AddRow(table, {report.run.id(), summary.name, summary.status}, report.ledger);
    }
    AddRow(table, {"all", "", ""}, runs::AddedUp(all));
  } else {
    for (const auto& [name, group] : GroupsOf(reports, by)) {
      AddRow(table, {name, fmt::to_string(group.ledgers.size())}, group.sum);
    }
    AddRow(table, {"all", fmt::to_string(all.size())}, runs::AddedUp(all));
  }
  const std::string advice = AdviceOn(runs::AddedUp(all));
  return table.Render() + (advice.empty() ? "" : "\n" + advice);
}

namespace {

text::Json SavingToJson(const Ledger& ledger) {
  const auto saving = runs::GreatestSaving(ledger);
  if (!saving) return text::Json(nullptr);
  return text::Object{{"bucket", NameOf(saving->bucket)},
                      {"ms", saving->millis},
                      {"gpuMs", saving->gpu_millis},
                      {"text", saving->text}};
}

text::Json SumToJson(const Ledger& sum, size_t count) {
  text::Json json = runs::LedgerToJson(sum);
  text::EraseKeys(json.as_object(), {"begin", "end", "segments"});
  json.as_object()["runs"] = count;
  json.as_object()["saving"] = SavingToJson(sum);
  return json;
}

}  // namespace

text::Json ReportToJson(const RunReport& report) {
  const api::TrainingSummary& summary = report.run.job.summary;
  return text::Object{{"id", report.run.id()},
                      {"name", summary.name},
                      {"namespace", summary.namespace_name},
                      {"status", summary.status},
                      {"ledger", runs::LedgerToJson(report.ledger)},
                      {"steps", runs::StepsToJson(report.life, FactsOfSteps(report.life))},
                      {"saving", SavingToJson(report.ledger)}};
}

text::Json ReportsToJson(const std::vector<RunReport>& reports, const std::string& by) {
  text::Array runs, groups;
  std::vector<Ledger> all;
  for (const RunReport& report : reports) {
    runs.push_back(ReportToJson(report));
    all.push_back(report.ledger);
  }
  if (!by.empty()) {
    for (const auto& [name, group] : GroupsOf(reports, by)) {
      text::Json json = SumToJson(group.sum, group.ledgers.size());
      json.as_object()["group"] = name;
      groups.push_back(std::move(json));
    }
  }
  return text::Object{{"runs", std::move(runs)},
                      {"groups", std::move(groups)},
                      {"all", SumToJson(runs::AddedUp(all), all.size())}};
}

}  // namespace arena
