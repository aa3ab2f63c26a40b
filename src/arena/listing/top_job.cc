#include <fmt/format.h>

#include <memory>

#include "arena/app/complete_names.h"
#include "arena/app/trainer.h"
#include "arena/listing/machine_output.h"
#include "arena/listing/other_jobs.h"
#include "arena/listing/repeat_display.h"
#include "arena/verbs.h"

namespace arena {
namespace {

struct TopJobFlags {
  std::string type, output, instance;
  bool all_namespaces = false, refresh = false;
};

void KeepInstance(TrainingJob& job, const std::string& instance) {
  if (instance.empty()) return;
  std::erase_if(job.summary.instances,
                [&](const api::InstanceSummary& entry) { return entry.name != instance; });
}

base::Status ShowJob(cluster::Client& client, const Context& context, const TopJobFlags& flags,
                     Format format, cli::Invocation& call) {
  const std::string namespace_name = context.Namespace();
  TRY_ASSIGN(TrainingJob job, FindJobOfType(client, context, namespace_name, call.args[0],
                                            flags.type, Pods::kIfAllowed));
  if (!flags.instance.empty() && job.hidden_pods) return base::Fail(*job.hidden_pods);
  if (!flags.instance.empty() && job.Pod(flags.instance) == nullptr) {
    return base::Fail(base::Code::kNotFound,
                      fmt::format("invalid instance name {} in job {},please use '{} get {}' to "
                                  "make sure instance name",
                                  flags.instance, call.args[0], context.program, call.args[0]));
  }
  KeepInstance(job, flags.instance);
  if (!IsForMachines(format)) MoveReasonToStderr(context, job.summary);
  const std::vector<TrainingJob> jobs = {std::move(job)};
  if (IsForMachines(format)) {
    return call.out.Write(RenderJobs(client, context, jobs, namespace_name, format));
  }
  return Print(
      context, call,
      RenderTopJob(jobs[0], MetricsOfRunning(client, context, jobs), PainterFor(context, call)));
}

base::Status ShowJobs(cluster::Client& client, const Context& context, const TopJobFlags& flags,
                      Format format, cli::Invocation& call) {
  const std::string namespace_name = flags.all_namespaces ? "" : context.Namespace();
  TRY_ASSIGN(std::vector<TrainingJob> jobs,
             ListJobsOfType(client, context, namespace_name, flags.type));
  SortByGpus(jobs);
  if (IsForMachines(format)) {
    return call.out.Write(RenderJobs(client, context, jobs, namespace_name, format));
  }
  return Print(context, call,
               RenderTopJobs(jobs, format, flags.all_namespaces, context.clock.Now(),
                             PainterFor(context, call)));
}

base::Result<int> RunTopJob(Context& context, const TopJobFlags& flags, cli::Invocation& call) {
  TRY_ASSIGN(const Format format, FormatOf(flags.output, call));
  if (IsForMachines(format)) KeepOutputPure(context);
  TRY_ASSIGN(cluster::Client * client, context.connect(context));
  TRY(ShowRepeatedly(context, call.out, flags.refresh,
                     "-------------------------------------------",
                     "----------------------------------------------------", [&] {
                       return call.args.empty() ? ShowJobs(*client, context, flags, format, call)
                                                : ShowJob(*client, context, flags, format, call);
                     }));
  return 0;
}

}  // namespace

void AddTopJob(cli::Command& top, Context& context) {
  cli::Command& verb = top.Add("job [JOB]", "Show the GPUs of the jobs")
                           .Aliases({"jobs"})
                           .Args(cli::MaxArgs(1))
                           .Help("arena/listing/top_job", context.program);
  auto flags = std::make_shared<TopJobFlags>();
  cli::FlagSet& set = verb.flags();
  set.Bool(&flags->all_namespaces, "all-namespaces", false, "in every namespace")
      .Short('A')
      .OldName("allNamespaces");
  AddTypeFlag(set, &flags->type, "kind of jobs: pytorchjob");
  set.Bool(&flags->refresh, "refresh", false, "with JOB: refresh every two seconds").Short('r');
  AddInstanceFlag(set, &flags->instance, context, "only this instance");
  set.String(&flags->output, "output", "", "wide, json or yaml")
      .Short('o')
      .Choices({"json", "yaml", "wide"});
  verb.Check([flags](cli::Invocation& call) -> base::Status {
    if (flags->refresh && call.args.empty()) {
      return base::Fail(base::Code::kInvalidArgument,
                        "you must specify the job name when using `-r` flag");
    }
    TRY(FormatOf(flags->output, call));
    TRY(MeansPyTorch(flags->type));
    return {};
  });
  CompleteOneJob(verb, context);
  verb.Run([flags, &context](cli::Invocation& call) { return RunTopJob(context, *flags, call); });
}

}  // namespace arena
