#include "arena/jobs/progress.h"

#include <fmt/format.h>

#include <utility>

#include "answers/loss_watch.h"
#include "api/object.h"
#include "api/status_posts.h"

namespace arena {
namespace {

constexpr const char* kProgressPath = "/muster/progress";

}  // namespace

std::vector<runs::SourceProgress> SourcesIn(const text::Json& json) {
  std::vector<runs::SourceProgress> sources;
  for (const text::Json& source : text::Items(json, {"sources"}))
    sources.push_back(runs::ProgressFromJson(source));
  return sources;
}

text::Array AnnotatedProgress(const text::Json& job) {
  auto sources = text::ParseJson(api::Annotation(job, api::kProgressAnnotation));
  return sources && sources->is_array() ? std::move(sources->get_array()) : text::Array();
}

text::Json ProgressJson(cluster::Client& client, const Context& context, const text::Json& job,
                        int64_t points, Times times) {
  const std::string_view uid = api::Uid(job);
  if (!context.cluster_is_this_machine) {
    text::Array noted = AnnotatedProgress(job);
    if (noted.empty()) return text::Json(nullptr);
    return text::Object{{"uid", uid}, {"sources", std::move(noted)}, {"series", text::Array()}};
  }
  auto json = client.Ask("GET", fmt::format("{}?uid={}&points={}&times={}", kProgressPath, uid,
                                            points, times == Times::kGiven ? 1 : 0));
  if (!json) return text::Json(nullptr);
  const bool has_some =
      !text::Items(*json, {"sources"}).empty() || !text::Items(*json, {"waits"}).empty();
  return has_some ? *std::move(json) : text::Json(nullptr);
}

text::Json RanksOverTime(cluster::Client& client, const Context& context, std::string_view job_uid,
                         int64_t columns) {
  if (!context.cluster_is_this_machine) return text::Json(nullptr);
  auto json = client.Ask("GET", fmt::format("{}?uid={}&ranks={}", kProgressPath, job_uid, columns));
  // A daemon of an older muster answers with its progress.
  const bool is_known = json && text::FindArray(*json, {"ranks"}) != nullptr;
  return is_known ? *std::move(json) : text::Json(nullptr);
}

std::vector<runs::SourceProgress> ProgressOf(cluster::Client& client, const Context& context,
                                             const text::Json& job) {
  return SourcesIn(ProgressJson(client, context, job, 0));
}

std::map<std::string, std::vector<runs::SourceProgress>> ProgressOfRunning(
    cluster::Client& client, const Context& context, const std::vector<TrainingJob>& jobs) {
  std::map<std::string, std::vector<runs::SourceProgress>> progress;
  if (!context.cluster_is_this_machine) {
    for (const TrainingJob& job : jobs) {
      if (job.summary.status != "RUNNING") continue;
      progress[job.summary.uid] = ProgressOf(client, context, job.job);
    }
    return progress;
  }
  const auto json = client.Ask("GET", kProgressPath);
  if (!json) return progress;
  for (const text::Json& item : text::Items(*json, {"items"})) {
    progress[std::string(text::GetString(item, {"uid"}))] = SourcesIn(item);
  }
  return progress;
}

text::Json SourcesToJson(const std::vector<runs::SourceProgress>& sources) {
  text::Array list;
  for (const runs::SourceProgress& source : sources) list.push_back(runs::ProgressToJson(source));
  return list;
}

std::vector<std::string> ProgressLines(const std::vector<runs::SourceProgress>& sources) {
  std::vector<std::string> lines;
  const auto add = [&lines](const runs::SourceProgress& source) {
    const std::string text = runs::DescribeProgress(source);
    if (text.empty()) return;
    const bool is_lost = answers::HasLostLoss(text);
    lines.push_back(fmt::format("{} ({}){}", text, source.source,
                                is_lost ? ": the loss is not a number any more" : ""));
  };
  if (!sources.empty()) add(sources.front());
  for (const runs::SourceProgress& other : runs::Disagreeing(sources)) add(other);
  return lines;
}

}  // namespace arena
