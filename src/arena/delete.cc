#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "api/object.h"
#include "arena/job_watch.h"
#include "arena/jobs.h"
#include "arena/submit_objects.h"
#include "arena/trainer.h"
#include "arena/verbs.h"
#include "base/log.h"
#include "base/strings.h"

namespace arena {
namespace {

using base::Code;
using base::Fail;

// How long the job's pods may take to end: Kubernetes' grace of 30 s, and room.
constexpr std::chrono::seconds kDeletionPatience{90};

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

// One job by name: what the identity ConfigMap lists, the job, its pods' end, the ConfigMap.
class Deletion {
 public:
  Deletion(cluster::Client& client, std::string namespace_name, std::string name)
      : client_(client), namespace_(std::move(namespace_name)), name_(std::move(name)) {}

  // False when there is no such job.
  base::Result<bool> Run();

 private:
  base::Result<std::optional<text::Json>> Find(const api::Resource& resource,
                                               const std::string& name);
  base::Status DeleteListed(std::string_view app);
  base::Status DeleteJob(const text::Json& job);

  cluster::Client& client_;
  std::string namespace_;
  std::string name_;
};

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

base::Status Deletion::DeleteJob(const text::Json& job) {
  TRY(DeleteIfThere(client_, api::kPyTorchJobs, namespace_, name_));
  const std::string uid(api::Uid(job));
  JobWatch watch(client_, namespace_, name_, PodSelector(job));
  size_t left = 0;
  const bool is_gone = watch.Wait(kDeletionPatience, [&](const JobWatch::Snapshot& now) {
    left =
        static_cast<size_t>(std::count_if(now.pods.begin(), now.pods.end(), [&](const auto& entry) {
          return api::ControllerUid(entry.second) == uid;
        }));
    return left == 0 && !(now.job && api::Uid(*now.job) == uid);
  });
  if (!is_gone) base::LogWarn("{} instances of the job {} are still ending", left, name_);
  return {};
}

base::Result<bool> Deletion::Run() {
  TRY_ASSIGN(const std::optional<text::Json> identity, Find(api::kConfigMaps, IdentityName(name_)));
  TRY_ASSIGN(const std::optional<text::Json> job, Find(api::kPyTorchJobs, name_));
  if (!identity && !job) return false;
  if (identity) TRY(DeleteListed(text::GetString(*identity, {"data", "app"})));
  if (job) TRY(DeleteJob(*job));
  // Last: as long as something could not be deleted it says what there was.
  if (identity) TRY(DeleteIfThere(client_, api::kConfigMaps, namespace_, IdentityName(name_)));
  return true;
}

base::Result<int> RunDelete(Context& context, const std::string& type, cli::Invocation& call) {
  TRY_ASSIGN(const bool is_pytorch, MeansPyTorch(type));
  TRY_ASSIGN(cluster::Client * client, context.connect(context));
  int exit_code = 0;
  for (const std::string& name : call.args) {
    base::Result<bool> deleted = false;
    if (is_pytorch) deleted = Deletion(*client, context.Namespace(), name).Run();
    if (!deleted) {
      base::LogError("{}", deleted.error().Wrap("the training job " + name).message);
      exit_code = cli::kExitFailure;
    } else if (*deleted) {
      base::LogInfo("The training job {} has been deleted successfully", name);
    } else {
      base::LogInfo("The training job '{}' does not exist,skip to delete it", name);
    }
  }
  return exit_code;
}

}  // namespace

void AddDelete(cli::Command& root, Context& context) {
  cli::Command& verb =
      root.Add("delete JOB [JOB...]", "Delete training jobs and all that belongs to them")
          .Aliases({"del"});
  auto type = std::make_shared<std::string>();
  verb.flags()
      .String(type.get(), "type", "", "kind of the job: pytorchjob")
      .Short('T')
      .Choices({"pytorchjob"});
  verb.Check([type](cli::Invocation& call) -> base::Status {
    TRY(NeedJobName(call));
    TRY(MeansPyTorch(*type));
    return {};
  });
  verb.CompleteArgs(
      [&context](cli::Invocation&, std::string_view) { return CompleteJobNames(context); });
  verb.Run([type, &context](cli::Invocation& call) { return RunDelete(context, *type, call); });
}

}  // namespace arena
