#include "arena/jobs/listed_pods.h"

#include <fmt/format.h>

#include "api/job/training_summary.h"
#include "api/names.h"
#include "api/object.h"
#include "text/projection.h"

namespace arena {
namespace {

// The embedded server's pods are reduced already, and smaller than this: looking for more to leave
// out would cost more than keeping it.
constexpr size_t kShortPod = 2500;

// namespace/name of the job that a pod says it is of.
std::string JobOfPod(std::string_view pod) {
  const auto value = [&](text::Path path) {
    const auto json = text::ParseJson(text::FindText(pod, path));
    return json && json->is_string() ? std::string(json->get_string()) : "";
  };
  std::string job = value({"metadata", "labels", "release"});
  if (job.empty()) job = value({"metadata", "labels", api::kJobNameLabel});
  return fmt::format("{}/{}", value({"metadata", "namespace"}), job);
}

}  // namespace

base::Result<text::Json> ListedPods::Take(std::string_view pod) {
  std::string kept;
  if (pod.size() < kShortPod) {
    kept = pod;
  } else {
    TRY(text::AppendPart(pod, api::SummarizedParts(), kept));
  }
  by_job_[JobOfPod(kept)].push_back(std::move(kept));
  return text::Json(nullptr);
}

bool ListedPods::HasAny(const text::Json& job) const {
  return by_job_.contains(fmt::format("{}/{}", api::Namespace(job), api::Name(job)));
}

base::Result<std::vector<text::Json>> ListedPods::Of(
    const text::Json& job, const boost::json::storage_ptr& storage) const {
  std::vector<text::Json> pods;
  const auto found = by_job_.find(fmt::format("{}/{}", api::Namespace(job), api::Name(job)));
  if (found == by_job_.end()) return pods;
  static const text::Projection kWhole{text::Path{}};
  std::string scratch;
  for (const std::string& text : found->second) {
    TRY_ASSIGN(text::Json pod, text::ParsePart(text, kWhole, scratch, storage));
    if (api::IsPodOfJob(pod, job)) pods.push_back(std::move(pod));
  }
  return pods;
}

}  // namespace arena
