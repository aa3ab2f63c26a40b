#include "ads/run/local_cancel.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>

#include "ads/run/cluster_backends.h"
#include "api/job/pytorch_job.h"
#include "api/names.h"
#include "api/object.h"
#include "api/pod.h"
#include "api/resources.h"

namespace ads {
namespace {

constexpr base::Duration kBetweenLooks = std::chrono::milliseconds(100);
constexpr base::Duration kLongestWait = std::chrono::minutes(2);

bool HasEnded(const text::Json& job) {
  const auto parsed = api::ParsePyTorchJob(job);
  return parsed && parsed->status.IsFinished();
}

base::Result<std::vector<text::Json>> PodsOf(const Cluster& cluster, const text::Json& job) {
  cluster::ListOptions list;
  list.namespace_name = text::GetString(job, {"metadata", "namespace"});
  list.label_selector = fmt::format("{}={}", api::kJobNameLabel, api::Name(job));
  TRY_ASSIGN(cluster::ObjectList pods, cluster.client->List(api::kPods, list));
  return std::move(pods.items);
}

base::Status AwaitEnd(const Context& context, const Cluster& cluster, const text::Json& job) {
  const auto end = context.clock.Steady() + kLongestWait;
  for (;;) {
    TRY_ASSIGN(const std::vector<text::Json> pods, PodsOf(cluster, job));
    if (pods.empty()) return {};
    if (context.clock.Steady() > end) {
      return base::Fail(base::Code::kTimeout, fmt::format("{} nodes of {} have not ended yet",
                                                          pods.size(), api::Name(job)));
    }
    context.pause(kBetweenLooks);
  }
}

base::Status Cancel(const Context& context, const Cluster& cluster, const text::Json& job,
                    cli::Output& out) {
  TRY_ASSIGN(const std::vector<text::Json> pods, PodsOf(cluster, job));
  for (const text::Json& pod : pods) {
    TRY(out.Write(fmt::format("Cancelling Job Run: {}\n", api::Name(pod))));
  }
  cluster::DeleteOptions options;
  options.uid = api::Uid(job);
  TRY(cluster.client->Delete(api::kPyTorchJobs, text::GetString(job, {"metadata", "namespace"}),
                             api::Name(job), options));
  return AwaitEnd(context, cluster, job);
}

}  // namespace

bool IsLocalTraining(const Context& context, const std::string& name) {
  return !name.empty() && name.find('/') == std::string::npos && name.front() != '.' &&
         ::access(LocalFolder(context, name).c_str(), F_OK) == 0;
}

base::Result<int> CancelLocalTraining(const Context& context, const std::string& name,
                                      cli::Output& out) {
  Context::ClusterFlags flags;
  flags.is_local = true;
  TRY_ASSIGN(const Cluster cluster, context.connect(flags));
  // `run` may have been given a namespace, which its information does not contain.
  cluster::ListOptions list;
  list.field_selector = "metadata.name=" + name;
  TRY_ASSIGN(const cluster::ObjectList jobs, cluster.client->List(api::kPyTorchJobs, list));
  if (jobs.items.empty()) TRY(out.Write(fmt::format("No Job runs found for : {}\n", name)));
  for (const text::Json& job : jobs.items) {
    if (!HasEnded(job)) TRY(Cancel(context, cluster, job, out));
  }
  return 0;
}

}  // namespace ads
