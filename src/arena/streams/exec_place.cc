#include "arena/streams/exec_place.h"

#include <fmt/format.h>

#include "api/names.h"
#include "api/pod.h"
#include "arena/listing/other_jobs.h"

namespace arena {
namespace {

using base::Code;
using base::Fail;

base::Status CheckIsAlive(const TrainingJob& job, const text::Json& pod) {
  if (api::IsPodFinished(pod)) {
    return Fail(Code::kInvalidArgument,
                fmt::format("cannot exec into a container in a completed Instance; current phase "
                            "is {}",
                            api::Phase(pod)));
  }
  if (api::Phase(pod) == "Pending" && api::NodeName(pod).empty()) {
    const std::string why = job.summary.reason.empty() ? "" : ": " + ReasonToShow(job.summary);
    return Fail(Code::kInvalidArgument,
                fmt::format("instance {} is not running{}", api::Name(pod), why));
  }
  return {};
}

// The container that trains, otherwise the pod's first.
std::string DefaultContainer(const text::Json& pod) {
  std::string first;
  for (const text::Json& container : text::Items(pod, {"spec", "containers"})) {
    const std::string_view name = text::GetString(container, {"name"});
    if (name == api::kContainerName) return std::string(name);
    if (first.empty()) first = name;
  }
  return first;
}

}  // namespace

base::Result<const text::Json*> ChooseInstance(const Context& context, const TrainingJob& job,
                                               const std::string& wanted) {
  if (wanted.empty()) {
    const text::Json* const chief = job.Pod(job.summary.chief_name);
    return chief != nullptr ? chief : &job.pods.front();
  }
  if (const text::Json* const pod = job.Pod(wanted)) return pod;
  return Fail(UnknownInstance(context, wanted, job.summary.name));
}

base::Result<ExecPlace> FindExecPlace(cluster::Client& client, const Context& context,
                                      const ExecWish& wish) {
  const std::string in = context.Namespace();
  auto job = FindJobOfType(client, context, in, wish.job, wish.type);
  std::string instance = wish.instance;
  // "exec JOB-worker-0" without its job, as kubectl takes it.
  if (!job && job.error().code == Code::kNotFound && instance.empty()) {
    const auto named = client.Get(api::kPods, in, wish.job);
    const std::string of = named ? std::string(api::Label(*named, api::kJobNameLabel)) : "";
    if (!of.empty()) {
      instance = wish.job;
      job = FindJobOfType(client, context, in, of, wish.type);
    }
  }
  if (!job) return Fail(job.error());
  if (job->pods.empty()) {
    return Fail(Code::kNotFound,
                fmt::format("can not attach the training job {}, because it has no instances",
                            job->summary.name));
  }
  TRY_ASSIGN(const text::Json* const pod, ChooseInstance(context, *job, instance));
  TRY(CheckIsAlive(*job, *pod));
  return ExecPlace{job->summary.namespace_name, std::string(api::Name(*pod)),
                   wish.container.empty() ? DefaultContainer(*pod) : wish.container};
}

}  // namespace arena
