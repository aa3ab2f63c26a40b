#include "arena/history/verdict_json.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/job/failure_cause.h"
#include "api/names.h"
#include "api/pod.h"

namespace arena {
namespace {

text::Json FactToJson(const answers::Fact& fact) {
  return text::Object{
      {"time", fact.time ? text::Json(base::FormatRfc3339(*fact.time)) : text::Json(nullptr)},
      {"source", fact.source},
      {"text", fact.text}};
}

text::Json FactsToJson(const std::vector<answers::Fact>& facts) {
  text::Array array;
  for (const answers::Fact& fact : facts) array.push_back(FactToJson(fact));
  return array;
}

// Of a job that has succeeded, which its chief decides alone; "" if there is none.
std::string FailureBesideTheChief(const RunRecord& run) {
  std::vector<const text::Json*> pods;
  for (const text::Json& pod : run.job.pods) pods.push_back(&pod);
  const bool has_master =
      text::Find(run.job.job, {"spec", "pytorchReplicaSpecs", api::kMaster}) != nullptr;
  return api::FindFirstFailure(pods, has_master).text;
}

}  // namespace

text::Json VerdictToJson(const answers::Verdict& verdict, const answers::Evidence& evidence) {
  text::Json who(nullptr);
  if (verdict.rank) {
    const answers::Rank& rank = evidence.ranks[*verdict.rank];
    who = text::Object{
        {"rank", rank.rank ? text::Json(*rank.rank) : text::Json(nullptr)},
        {"instance", rank.name},
        {"host", rank.host},
        {"attempt", rank.attempt + 1},
        {"exitCode", rank.exit_code ? text::Json(*rank.exit_code) : text::Json(nullptr)}};
  }
  text::Json where(nullptr);
  if (!verdict.file.empty()) {
    where = text::Object{
        {"file", verdict.file}, {"line", verdict.file_line}, {"function", verdict.function}};
  }
  text::Array missing;
  for (const std::string& witness : verdict.missing) missing.emplace_back(witness);
  return text::Object{{"class", verdict.kind},
                      {"title", verdict.title},
                      {"who", std::move(who)},
                      {"line", verdict.line},
                      {"where", std::move(where)},
                      {"advice", NameOf(verdict.advice)},
                      {"adviceText", verdict.advice_text},
                      {"confidence", NameOf(verdict.confidence)},
                      {"evidence", FactsToJson(verdict.evidence)},
                      {"consequences", FactsToJson(verdict.consequences)},
                      {"missing", std::move(missing)}};
}

std::optional<std::string> NotFailed(const RunRecord& run) {
  const api::TrainingSummary& summary = run.job.summary;
  if (summary.status == "FAILED" || summary.status == kDeletedStatus) return std::nullopt;
  if (!summary.reason.empty()) return summary.reason;
  if (run.job.hidden_pods && summary.status != "SUCCEEDED") {
    return "its instances, which may have failed, are not known";
  }
  const auto& pods = run.job.pods;
  const bool has_failed_pod = std::any_of(
      pods.begin(), pods.end(), [](const text::Json& pod) { return api::Phase(pod) == "Failed"; });
  if (has_failed_pod && summary.status != "SUCCEEDED") return std::nullopt;
  if (api::IsWaiting(summary.status)) {
    for (const api::InstanceSummary& instance : summary.instances) {
      if (!instance.waits.empty()) return fmt::format("{}: {}", instance.name, instance.waits);
    }
    return "it waits";
  }
  if (summary.status == "SUCCEEDED") {
    const std::string failure = has_failed_pod ? FailureBesideTheChief(run) : "";
    return failure.empty() ? "nothing failed" : "the chief succeeded, but " + failure;
  }
  for (const api::InstanceSummary& instance : summary.instances) {
    const text::Json* const pod = run.job.Pod(instance.name);
    const auto status = pod != nullptr ? api::StatusOfTraining(*pod) : std::nullopt;
    if (!status || status->restart_count == 0 || !status->last_terminated) continue;
    return fmt::format(
        "{} was started again {}, the last time after: {}", instance.name,
        status->restart_count == 1 ? "once" : fmt::format("{} times", status->restart_count),
        api::DescribeLastEnd(*status->last_terminated));
  }
  return "nothing has failed yet";
}

}  // namespace arena
