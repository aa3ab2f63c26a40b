#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "api/names.h"
#include "api/object.h"
#include "arena/app/complete_names.h"
#include "arena/app/program_name.h"
#include "arena/app/trainer.h"
#include "arena/history/ranks.h"
#include "arena/jobs/forecast.h"
#include "arena/jobs/job_events.h"
#include "arena/jobs/job_output.h"
#include "arena/jobs/kueue.h"
#include "arena/jobs/pod_use.h"
#include "arena/jobs/tensorboard.h"
#include "arena/listing/machine_output.h"
#include "arena/listing/other_jobs.h"
#include "arena/logs/log_progress.h"
#include "arena/verbs.h"
#include "base/log.h"
#include "base/strings.h"

namespace arena {
namespace {

struct GetFlags {
  std::string type, output;
  bool events = false, gpus = false, ranks = false;
};

// Arena's output ends with TensorBoard's address, so that under Arena's name a problem goes to
// stderr.
std::string ProblemToShow(const Context& context, std::string problem) {
  if (context.program != "arena" || problem.empty()) return problem;
  base::LogWarn("the tensorboard is not running yet: {}", problem);
  return "";
}

// Names the columns that a cluster on Kubernetes cannot fill.
void SayWhatIsMissing(const base::Status& measured, size_t unread) {
  const std::string use =
      measured ? "CPU and MEMORY are from the last minute, as metrics.k8s.io reports them"
      : measured.error().code == base::Code::kInvalidArgument
          ? "CPU and MEMORY are not known: the cluster serves no metrics.k8s.io (metrics-server)"
          : fmt::format("CPU and MEMORY are not known: {}", measured.error().message);
  base::LogInfo("{}; what each rank is doing, and how late it is, is known only on this machine",
                use);
  if (unread > 0) {
    base::LogInfo("the logs of {} other instances were not read: see `logs --rank`", unread);
  }
}

base::Status PrintRanks(cluster::Client& client, const Context& context, const TrainingJob& job,
                        Format format, cli::Output& out) {
  const bool is_distant = !context.cluster_is_this_machine;
  LookAtRanks look;
  look.gpus = MetricsOfRunning(client, context, {job});
  base::Status measured;
  if (is_distant) {
    auto uses = UseOfPods(client, job.summary.namespace_name, PodSelector(job.job));
    if (!uses) measured = base::Fail(std::move(uses.error()));
    if (uses) look.uses = *std::move(uses);
  }
  RankLogs logs;
  const std::vector<RankState> ranks = RanksOf(client, context, job, logs, look);
  if (IsForMachines(format)) return out.Write(RenderDocument(RanksToJson(ranks), format));
  const auto width = static_cast<size_t>(out.Width());
  const RanksText text = is_distant ? RenderDistantRanks(ranks, width) : RenderRanks(ranks, width);
  TRY(out.Write(text.table));
  if (!text.left_out.empty()) {
    base::LogInfo("{} columns have no room for {}: `-o json` and a pipe have all of it", width,
                  base::Join(text.left_out, ", "));
  }
  if (is_distant) SayWhatIsMissing(measured, logs.unread());
  return {};
}

base::Result<int> RunGet(Context& context, const GetFlags& flags, cli::Invocation& call) {
  TRY_ASSIGN(const Format format, FormatOf(flags.output, call));
  if (IsForMachines(format)) KeepOutputPure(context);
  TRY_ASSIGN(cluster::Client * client, context.connect(context));
  const std::string& name = call.args[0];
  const std::string namespace_name = context.Namespace();
  TRY_ASSIGN(TrainingJob job,
             FindJobOfType(*client, context, namespace_name, name, flags.type, Pods::kIfAllowed));
  AddWordsOfKueue(*client, job);
  AddWordsOfEvents(*client, context, job);
  if (flags.ranks) {
    TRY(PrintRanks(*client, context, job, format, call.out));
    return 0;
  }
  GetExtras extras;
  extras.tensorboard = TensorboardUrl(*client, job);
  if (flags.gpus) {
    extras.gpu_metrics = MetricsOfRunning(*client, context, {job});
  }
  if (IsForMachines(format)) {
    text::Json json = JobToJson(job, extras.tensorboard, extras.gpu_metrics, KeysFor(context));
    if (KeysFor(context) == Keys::kAll) {
      json.as_object()["progress"] =
          SourcesToJson(SourcesIn(ProgressWithLog(*client, context, job, 0)));
    }
    TRY(call.out.Write(format == Format::kJson ? RenderJson(json) : RenderYaml(json)));
    return 0;
  }
  MoveReasonToStderr(context, job.summary);
  const base::Time now = context.clock.Now();
  if (context.program != "arena" && job.summary.status == "PENDING") {
    // The forecast is best effort: the reason is shown without it, too.
    const auto forecast = AskForecast(*client, context, job.summary.namespace_name, name);
    if (forecast) extras.starts = StartsLine(*forecast, now);
  }
  if (extras.tensorboard) {
    extras.tensorboard_problem = ProblemToShow(context, FindTensorboardState(*client, job).problem);
  }
  extras.gpus = flags.gpus;
  extras.events = flags.events;
  extras.is_arenas_page = context.program == "arena";
  if (context.program != "arena")
    extras.logs_command = fmt::format("{} logs {}{}", context.program, name, FlagsOfPlace(context));
  if (flags.events) {
    auto events = EventsOf(*client, context, job, now);
    if (!events && events.error().code != base::Code::kPermissionDenied) {
      return base::Fail(std::move(events.error()));
    }
    if (!events) base::LogWarn("the events are not known: {}", events.error().message);
    extras.events = events.has_value();
    if (events) extras.event_rows = *std::move(events);
  }
  if (KeysFor(context) == Keys::kAll) {
    extras.progress = ProgressLines(SourcesIn(ProgressWithLog(*client, context, job, 0)));
  }
  TRY(Print(context, call, RenderGet(job, format, extras, now, PainterFor(context, call))));
  // The wording is that of `submit`; it goes to stderr because stdout has Arena's format.
  const std::string_view unmet = api::Annotation(job.job, api::kUnmetAnnotation);
  for (const std::string& line : base::Split(unmet, '\n')) {
    if (!line.empty()) base::LogWarn("{}", line);
  }
  return 0;
}

}  // namespace

void AddGet(cli::Command& root, Context& context) {
  cli::Command& verb = root.Add("get JOB", "Show a training job and its instances")
                           .Args(cli::MaxArgs(1))
                           .Help("arena/history/get", context.program);
  auto flags = std::make_shared<GetFlags>();
  cli::FlagSet& set = verb.flags();
  set.String(&flags->type, "type", "",
             "kind of the job: pytorchjob; on Kubernetes tfjob, mpijob, ...")
      .Short('T')
      .Choices(TypesToOffer());
  set.Bool(&flags->events, "events", false, "show the events of the job and its instances")
      .Short('e');
  set.Bool(&flags->gpus, "gpus", false, "show the GPUs of the instances").Short('g');
  if (context.program != "arena") {
    set.Bool(&flags->ranks, "ranks", false,
             "show what each rank is doing: its step, quiet time, CPU, memory, line of code");
  }
  set.String(&flags->output, "output", "", "wide (Arena 0.15's page), json or yaml")
      .Short('o')
      .Choices({"json", "yaml", "wide"});
  verb.Check([flags](cli::Invocation& call) -> base::Status {
    TRY(NeedJobName(call));
    TRY(FormatOf(flags->output, call));
    TRY(MeansPyTorch(flags->type));
    return {};
  });
  CompleteOneJob(verb, context);
  verb.Run([flags, &context](cli::Invocation& call) { return RunGet(context, *flags, call); });
}

}  // namespace arena
