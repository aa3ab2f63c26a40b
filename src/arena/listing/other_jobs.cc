#include "arena/listing/other_jobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <set>

#include "api/gpus.h"
#include "api/names.h"
#include "api/object.h"
#include "api/pod.h"
#include "arena/app/ownership.h"
#include "arena/app/trainer.h"
#include "base/file.h"
#include "base/log.h"
#include "base/strings.h"

namespace arena {
namespace {

using base::Code;
using base::Fail;
using ServedKinds = std::vector<const api::Resource*>;

constexpr size_t kMaxKindsFile = 64 << 10;

// "" when the answer cannot be kept.
std::string KindsFile(const Context& context) {
  if (context.cluster_server.empty()) return "";
  return fmt::format("{}/kinds-{}.json", context.environment.CacheDir(),
                     base::Md5Hex(context.cluster_server));
}

ServedKinds KindsAmong(const std::set<std::string_view>& plurals) {
  ServedKinds kinds;
  for (const api::Resource& kind : OtherKinds()) {
    if (plurals.contains(kind.plural)) kinds.push_back(&kind);
  }
  return kinds;
}

// Nullopt if there is none or it is unusable: asking the server again always helps.
std::optional<ServedKinds> RememberedKinds(const Context& context) {
  const std::string path = KindsFile(context);
  if (path.empty()) return std::nullopt;
  const auto text = base::ReadFile(path, kMaxKindsFile);
  if (!text) return std::nullopt;
  const auto file = text::ParseJson(*text);
  if (!file || text::GetString(*file, {"server"}) != context.cluster_server) return std::nullopt;
  const auto asked = base::ParseRfc3339(text::GetString(*file, {"asked"}));
  const text::Array* const names = text::FindArray(*file, {"kinds"});
  if (!asked || names == nullptr) return std::nullopt;
  const base::Time now = context.clock.Now();
  if (*asked > now || now - *asked >= kKindsLifetime) return std::nullopt;
  std::set<std::string_view> plurals;
  for (const text::Json& name : *names) {
    if (const auto* plural = name.if_string()) plurals.insert(*plural);
  }
  return KindsAmong(plurals);
}

void RememberKinds(const Context& context, const ServedKinds& kinds) {
  const std::string path = KindsFile(context);
  if (path.empty()) return;
  text::Array names;
  for (const api::Resource* const kind : kinds) names.emplace_back(kind->plural);
  const text::Json file = text::Object{{"server", context.cluster_server},
                                       {"asked", base::FormatRfc3339(context.clock.Now())},
                                       {"kinds", std::move(names)}};
  base::Status kept = base::MakeDirs(context.environment.CacheDir());
  if (kept) {
    kept = base::WriteFileAtomic(path, text::ToJson(file) + "\n", 0600, base::Durability::kNone);
  }
  if (!kept) base::LogDebug("the cluster's kinds could not be cached: {}", kept.error().message);
}

// The kind was removed in the meantime: the next command asks again.
void ForgetKinds(const Context& context) {
  const std::string path = KindsFile(context);
  if (!path.empty()) std::remove(path.c_str());
}

const text::Projection& OtherJobParts() {
  static const text::Projection kParts{
      {"metadata", "name"},
      {"metadata", "namespace"},
      {"metadata", "uid"},
      {"metadata", "creationTimestamp"},
      {"metadata", "deletionTimestamp"},
      {"metadata", "labels"},
      // spec.tfReplicaSpecs.Worker
      {"spec", "*", "*", "replicas"},
      {"spec", "*", "*", "template", "spec", "priorityClassName"},
      {"spec", "*", "*", "template", "spec", "containers", "resources", "limits"},
      {"status"}};
  return kParts;
}

// spec.tfReplicaSpecs, spec.mpiReplicaSpecs, ...
const text::Object* ReplicaSpecsOf(const text::Json& job) {
  for (const auto& [key, value] : text::Members(job, {"spec"})) {
    if (std::string_view(key).ends_with("ReplicaSpecs")) return value.if_object();
  }
  return nullptr;
}

api::TrainingSummary SummarizeOther(const api::Resource& kind, const text::Json& job,
                                    const std::vector<const text::Json*>& pods, base::Time now) {
  api::TrainingSummary summary = api::Summarize(job, pods, now);
  summary.trainer = kind.singular;
  const text::Object* const replicas = ReplicaSpecsOf(job);
  if (replicas == nullptr) return summary;
  int64_t gpus = 0;
  bool is_first = true;
  for (const auto& [type, replica] : *replicas) {
    const text::Json* const pod = text::Find(replica, {"template"});
    if (pod == nullptr) continue;
    gpus += text::GetInt(replica, {"replicas"}).value_or(1) * api::SumOfGpuLimits(*pod);
    const std::string_view priority = text::GetString(*pod, {"spec", "priorityClassName"});
    if (std::exchange(is_first, false) && !priority.empty()) summary.priority = priority;
  }
  if (!pods.empty()) return summary;
  summary.requested_gpus = static_cast<double>(gpus);
  if (summary.status == "RUNNING") summary.allocated_gpus = summary.requested_gpus;
  return summary;
}

base::Status AppendJobsOf(const api::Resource& kind, cluster::Client& client,
                          const Context& context, const cluster::ListOptions& options,
                          std::vector<TrainingJob>& jobs) {
  TRY_ASSIGN(cluster::ObjectList found, client.List(kind, options));
  for (text::Json& object : found.items) {
    TrainingJob& job = jobs.emplace_back();
    job.job = std::move(object);
    job.summary = SummarizeOther(kind, job.job, {}, context.clock.Now());
  }
  return {};
}

base::Result<TrainingJob> WithPodsOfOther(const api::Resource& kind, cluster::Client& client,
                                          const Context& context, text::Json job) {
  TRY(CheckOwner(client, context, job, Admins::kMay));
  TrainingJob found;
  found.job = std::move(job);
  cluster::ListOptions options;
  options.namespace_name = api::Namespace(found.job);
  options.label_selector = fmt::format("{}={}", api::kJobNameLabel, api::Name(found.job));
  TRY_ASSIGN(cluster::ObjectList pods, client.List(api::kPods, options));
  std::erase_if(pods.items, [&](const text::Json& pod) {
    return api::ControllerUid(pod) != api::Uid(found.job);
  });
  found.pods = std::move(pods.items);
  found.summary = SummarizeOther(kind, found.job, Pointers(found.pods), context.clock.Now());
  return found;
}

}  // namespace

base::Result<std::vector<const api::Resource*>> ServedOtherKinds(cluster::Client& client,
                                                                 const Context& context) {
  if (context.cluster_is_this_machine) return ServedKinds();
  if (auto kinds = RememberedKinds(context)) return std::move(*kinds);
  static const std::string kPath =
      fmt::format("/apis/{}/{}", OtherKinds()[0].group, OtherKinds()[0].version);
  const auto body = client.Raw("GET", kPath);
  if (!body) {
    const Code code = body.error().code;
    if (code != Code::kNotFound && code != Code::kPermissionDenied) {
      return Fail(body.error().Wrap("find the cluster's kinds of jobs"));
    }
    base::LogDebug("the cluster's kinds of jobs are not known: {}", body.error().message);
    return ServedKinds();
  }
  const auto list = text::ParseJson(*body);
  const text::Array* const resources = list ? text::FindArray(*list, {"resources"}) : nullptr;
  if (resources == nullptr) {
    return Fail(Code::kInternal, kPath + ": the server's answer is not a list of resources");
  }
  std::set<std::string_view> plurals;
  for (const text::Json& resource : *resources) {
    plurals.insert(text::GetString(resource, {"name"}));
  }
  ServedKinds kinds = KindsAmong(plurals);
  RememberKinds(context, kinds);
  return kinds;
}

base::Result<std::vector<TrainingJob>> ListJobsOfType(cluster::Client& client,
                                                      const Context& context,
                                                      const std::string& namespace_name,
                                                      std::string_view type,
                                                      std::string_view label_selector) {
  TRY_ASSIGN(const bool is_pytorch, MeansPyTorch(type));
  const api::Resource* const named = OtherKindNamed(type);
  std::vector<TrainingJob> jobs;
  if (!is_pytorch && (named == nullptr || context.cluster_is_this_machine)) return jobs;
  cluster::ListOptions options;
  options.namespace_name = namespace_name;
  TRY_ASSIGN(options.label_selector, VisibleSelector(client, context, label_selector));
  options.read = [](std::string_view job) { return text::ParsePart(job, OtherJobParts()); };
  ServedKinds kinds;
  if (named != nullptr) kinds.push_back(named);
  if (is_pytorch) {
    std::string selector(ListedJobs(context));
    if (!selector.empty() && !options.label_selector.empty()) selector += ",";
    selector += options.label_selector;
    TRY_ASSIGN(jobs, ListSelectedJobs(client, context, namespace_name, selector));
  }
  if (type.empty()) {
    TRY_ASSIGN(kinds, ServedOtherKinds(client, context));
  }
  for (const api::Resource* const kind : kinds) {
    const base::Status added = AppendJobsOf(*kind, client, context, options, jobs);
    if (added) continue;
    if (added.error().code == Code::kNotFound) {
      ForgetKinds(context);
    } else if (named != nullptr || added.error().code != Code::kPermissionDenied) {
      return Fail(ListError(added.error(), namespace_name));
    } else {
      base::LogDebug("{} are left out: {}", kind->plural, added.error().message);
    }
  }
  SortNewestFirst(jobs);
  return jobs;
}

base::Result<std::vector<OtherJob>> FindOthers(cluster::Client& client, const Context& context,
                                               const std::string& namespace_name,
                                               const std::string& name) {
  std::vector<OtherJob> found;
  const auto kinds = ServedOtherKinds(client, context);
  if (!kinds) {
    base::LogDebug("{} is not looked for among other kinds: {}", name, kinds.error().message);
    return found;
  }
  for (const api::Resource* const kind : *kinds) {
    auto job = client.Get(*kind, namespace_name, name);
    if (job) {
      found.push_back({kind, std::move(*job)});
    } else if (job.error().code != Code::kNotFound && job.error().code != Code::kPermissionDenied) {
      return Fail(GetError(std::move(job.error()), namespace_name));
    }
  }
  return found;
}

base::Result<TrainingJob> FindJobOfType(cluster::Client& client, const Context& context,
                                        const std::string& namespace_name, const std::string& name,
                                        std::string_view type, Pods pods) {
  TRY_ASSIGN(const bool is_pytorch, MeansPyTorch(type));
  if (is_pytorch) {
    auto job = FindJob(client, context, namespace_name, name, pods);
    if (job || !type.empty() || job.error().code != Code::kNotFound) return job;
    TRY_ASSIGN(std::vector<OtherJob> others, FindOthers(client, context, namespace_name, name));
    if (others.empty()) return job;
    if (others.size() > 1) {
      return Fail(Code::kInvalidArgument,
                  fmt::format("there are more than 1 training jobs with the same name {0}, please "
                              "check it with `{1} list | grep {0}`",
                              name, context.program));
    }
    return WithPodsOfOther(*others[0].kind, client, context, std::move(others[0].job));
  }
  const api::Resource* const kind = OtherKindNamed(type);
  if (kind == nullptr || context.cluster_is_this_machine) {
    return Fail(NotFoundJob(context, namespace_name, name));
  }
  auto job = client.Get(*kind, namespace_name, name);
  if (!job && job.error().code == Code::kNotFound) {
    TRY(CheckNamespace(client, context, namespace_name));
    return Fail(NotFoundJob(context, namespace_name, name));
  }
  if (!job) return Fail(GetError(std::move(job.error()), namespace_name));
  return WithPodsOfOther(*kind, client, context, *std::move(job));
}

}  // namespace arena
