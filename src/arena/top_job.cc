#include <memory>

#include "arena/job_output.h"
#include "arena/trainer.h"
#include "arena/verbs.h"

namespace arena {
namespace {

struct TopJobFlags {
  std::string type, output, instance;
  bool all_namespaces = false;
};

void KeepInstance(TrainingJob& job, const std::string& instance) {
  if (instance.empty()) return;
  std::erase_if(job.summary.instances,
                [&](const api::InstanceSummary& entry) { return entry.name != instance; });
}

base::Result<int> RunTopJob(Context& context, const TopJobFlags& flags, cli::Invocation& call) {
  TRY_ASSIGN(const Format format, ParseFormat(flags.output));
  TRY_ASSIGN(const bool is_pytorch, MeansPyTorch(flags.type));
  TRY_ASSIGN(cluster::Client * client, context.connect(context));
  const std::string namespace_name = flags.all_namespaces ? "" : context.Namespace();
  std::vector<TrainingJob> jobs;
  if (!call.args.empty()) {
    TRY_ASSIGN(TrainingJob job, FindJob(*client, context, context.Namespace(), call.args[0]));
    KeepInstance(job, flags.instance);
    jobs.push_back(std::move(job));
  } else if (is_pytorch) {
    TRY_ASSIGN(jobs, ListJobs(*client, context, namespace_name));
  }
  if (format == Format::kJson || format == Format::kYaml) {
    text::Array array;
    for (const TrainingJob& job : jobs) array.push_back(JobToJson(job, std::nullopt));
    TRY(call.out.Write(format == Format::kJson ? RenderJson(array) : RenderYaml(array)));
  } else if (!call.args.empty()) {
    TRY(call.out.Write(RenderTopJob(jobs[0])));
  } else {
    TRY(call.out.Write(RenderTopJobs(jobs, format, flags.all_namespaces, context.clock.Now())));
  }
  return 0;
}

}  // namespace

void AddTopJob(cli::Command& top, Context& context) {
  cli::Command& verb =
      top.Add("job [JOB]", "Show the GPUs of the jobs").Aliases({"jobs"}).Args(cli::MaxArgs(1));
  auto flags = std::make_shared<TopJobFlags>();
  cli::FlagSet& set = verb.flags();
  set.Bool(&flags->all_namespaces, "all-namespaces", false, "of every namespace")
      .Short('A')
      .OldName("allNamespaces");
  set.String(&flags->type, "type", "", "kind of jobs: pytorchjob")
      .Short('T')
      .Choices({"pytorchjob"});
  set.String(&flags->instance, "instance", "", "only this instance").Short('i');
  set.String(&flags->output, "output", "", "wide, json or yaml")
      .Short('o')
      .Choices({"json", "yaml", "wide"});
  verb.Check([flags](cli::Invocation&) -> base::Status {
    TRY(ParseFormat(flags->output));
    TRY(MeansPyTorch(flags->type));
    return {};
  });
  verb.CompleteArgs(
      [&context](cli::Invocation&, std::string_view) { return CompleteJobNames(context); });
  verb.Run([flags, &context](cli::Invocation& call) { return RunTopJob(context, *flags, call); });
}

}  // namespace arena
