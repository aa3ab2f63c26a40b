#include "arena/ending/deletion.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/object.h"
#include "arena/app/ownership.h"
#include "arena/jobs/job_watch.h"
#include "arena/jobs/jobs.h"
#include "arena/jobs/owned_names.h"
#include "arena/listing/seen_runs.h"
#include "base/log.h"
#include "base/strings.h"

namespace arena {
namespace {

using base::Code;
using base::Fail;

// `deployment.apps` -> the resource; nullptr for a kind that muster does not know.
const api::Resource* ResourceOfKind(std::string_view kind) {
  const size_t dot = kind.find('.');
  const std::string_view singular = kind.substr(0, dot);
  const std::string_view group = dot == std::string_view::npos ? "" : kind.substr(dot + 1);
  for (const api::Resource* resource : api::AllResources()) {
    if (resource->singular == singular && resource->group == group) return resource;
  }
  return nullptr;
}

base::Status DeleteIfThere(cluster::Client& client, const api::Resource& resource,
                           const std::string& namespace_name, const std::string& name) {
  const base::Status status = client.Delete(resource, namespace_name, name);
  if (status || status.error().code == Code::kNotFound) return {};
  return Fail(status.error().Wrap(fmt::format("delete {} {}", resource.singular, name)));
}

// The TensorBoard's pod is its Deployment's: one that is not marked may be a successor's.
bool IsEndingTensorboard(const text::Json& pod) {
  return IsTensorboardPod(pod) && api::IsDeleting(pod);
}

}  // namespace

base::Result<std::optional<text::Json>> Deletion::Find(const api::Resource& resource,
                                                       const std::string& name) {
  auto found = client_.Get(resource, namespace_, name);
  if (found) return std::optional<text::Json>(std::move(*found));
  if (found.error().code == Code::kNotFound) return std::optional<text::Json>();
  return Fail(std::move(found.error()));
}

base::Status Deletion::DeleteListed(std::string_view app) {
  for (const std::string& line : base::Split(app, '\n')) {
    const std::string_view entry = base::Trim(line);
    const size_t slash = entry.find('/');
    if (slash == std::string_view::npos) continue;
    const api::Resource* resource = ResourceOfKind(entry.substr(0, slash));
    if (resource == nullptr) {
      base::LogWarn("{} is of a kind that muster does not know: delete it by hand", entry);
    } else if (resource != &api::kPyTorchJobs) {
      TRY(DeleteIfThere(client_, *resource, namespace_, std::string(entry.substr(slash + 1))));
    }
  }
  return {};
}

base::Result<bool> Deletion::Begin() {
  auto identity = Find(api::kConfigMaps, IdentityName(name_));
  TRY_ASSIGN(job_, Find(api::kPyTorchJobs, name_));
  if (!identity) {
    // A user who may delete jobs but not read ConfigMaps created this one without muster.
    if (!job_ || identity.error().code != Code::kPermissionDenied) return Fail(identity.error());
    base::LogWarn("{}; if muster submitted the job, that ConfigMap remains",
                  identity.error().message);
  } else {
    identity_ = *std::move(identity);
  }
  if (!identity_ && !job_) return false;
  // The identities of shared namespaces have no owner.
  if (identity_ && !api::Label(*identity_, kUserLabel).empty()) {
    TRY(CheckOwner(client_, context_, *identity_, Admins::kMayNot));
  }
  if (job_) TRY(CheckOwner(client_, context_, *job_, Admins::kMayNot));
  if (job_) SeenRuns(context_).Renew(*job_, {});
  if (identity_) TRY(DeleteListed(text::GetString(*identity_, {"data", "app"})));
  if (job_) TRY(DeleteIfThere(client_, api::kPyTorchJobs, namespace_, name_));
  if (const std::string holders = job_ ? api::NamesOfFinalizers(*job_) : ""; !holders.empty()) {
    base::LogInfo("the job {} goes when its finalizers are removed: {}", name_, holders);
  }
  return true;
}

base::Status Deletion::Force() {
  return job_ ? EndAtOnce(client_, namespace_, PodSelector(*job_), api::Uid(*job_))
              : base::Status();
}

bool Deletion::IsOver() {
  const std::string_view uid = api::Uid(*job_);
  const auto job = client_.Get(api::kPyTorchJobs, namespace_, name_);
  if (job ? api::Uid(*job) == uid : job.error().code != Code::kNotFound) return false;
  cluster::ListOptions options;
  options.namespace_name = namespace_;
  options.label_selector = PodSelector(*job_);
  const auto pods = client_.List(api::kPods, options);
  return pods && std::none_of(pods->items.begin(), pods->items.end(), [&](const text::Json& pod) {
           return api::ControllerUid(pod) == uid || IsEndingTensorboard(pod);
         });
}

void Deletion::AwaitPods(Ending& ending) {
  // The others have ended while one was awaited: finding that out takes two requests, a watch takes
  // four.
  if (ending.HasAwaited() && IsOver()) return;
  const std::string uid(api::Uid(*job_));
  JobWatch watch(client_, namespace_, name_, PodSelector(*job_));
  ending.Await(watch, name_, [&](const JobWatch::Snapshot& now) -> size_t {
    const auto pods = std::count_if(now.pods.begin(), now.pods.end(), [&](const auto& entry) {
      return api::ControllerUid(entry.second) == uid || IsEndingTensorboard(entry.second);
    });
    if (pods != 0) return static_cast<size_t>(pods);
    return now.job && api::Uid(*now.job) == uid ? 1 : 0;
  });
}

base::Status Deletion::AwaitEnd(Ending* ending) {
  if (job_ && ending != nullptr && !ending->IsLeft()) AwaitPods(*ending);
  if (identity_) TRY(DeleteIfThere(client_, api::kConfigMaps, namespace_, IdentityName(name_)));
  return {};
}

}  // namespace arena
