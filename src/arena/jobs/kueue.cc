#include "arena/jobs/kueue.h"

#include <fmt/format.h>

#include "api/job/failure_cause.h"
#include "api/names.h"
#include "api/object.h"
#include "api/pod.h"

namespace arena {
namespace {

// Served since Kueue 0.2; later versions serve it still.
constinit const api::Resource kWorkloads{"kueue.x-k8s.io", "v1beta1", "workloads", "workload",
                                         "Workload",       true,      true};
constexpr std::string_view kJobUidLabel = "kueue.x-k8s.io/job-uid";

// Why it has no quota or, before Kueue has looked at it again, why it lost it.
std::string WordsOf(const text::Json& workload) {
  for (const std::string_view type : {"QuotaReserved", "Evicted"}) {
    const text::Json* const condition = api::FindCondition(workload, type);
    if (condition == nullptr) continue;
    const bool is_active =
        text::GetString(*condition, {"status"}) == (type == "Evicted" ? "True" : "False");
    const std::string_view message = text::GetString(*condition, {"message"});
    if (is_active && !message.empty()) return api::OneLine(message);
  }
  return "";
}

}  // namespace

void AddWordsOfKueue(cluster::Client& client, TrainingJob& job) {
  const bool is_held = api::IsWaiting(job.summary.status) &&
                       !api::Label(job.job, api::kKueueQueueLabel).empty() &&
                       text::GetBool(job.job, {"spec", "runPolicy", "suspend"}).value_or(false);
  if (!is_held) return;
  cluster::ListOptions options;
  options.namespace_name = job.summary.namespace_name;
  options.label_selector = fmt::format("{}={}", kJobUidLabel, job.summary.uid);
  const auto workloads = client.List(kWorkloads, options);
  if (!workloads) return;
  for (const text::Json& workload : workloads->items) {
    const std::string words = WordsOf(workload);
    if (!words.empty()) job.summary.reason.append(": ").append(words);
  }
}

}  // namespace arena
