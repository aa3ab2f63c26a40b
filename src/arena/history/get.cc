#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>

#include "api/names.h"
#include "api/object.h"
#include "arena/app/complete_names.h"
#include "arena/app/program_name.h"
#include "arena/app/trainer.h"
#include "arena/history/ranks.h"
#include "arena/jobs/forecast.h"
#include "arena/jobs/job_output.h"
#include "arena/jobs/kueue.h"
#include "arena/jobs/machine_output.h"
#include "arena/jobs/other_jobs.h"
#include "arena/jobs/tensorboard.h"
#include "arena/logs/log_progress.h"
#include "arena/verbs.h"
#include "base/log.h"
#include "base/strings.h"
#include "text/projection.h"

namespace arena {
namespace {

struct GetFlags {
  std::string type, output;
  bool events = false, gpus = false, ranks = false;
};

base::Time EventTime(const text::Json& event) {
  for (const std::string_view field : {"lastTimestamp", "eventTime", "firstTimestamp"}) {
    if (const auto time = base::ParseRfc3339(text::GetString(event, {field}))) return *time;
  }
  return base::ParseRfc3339(text::GetString(event, {"metadata", "creationTimestamp"}))
      .value_or(base::Time{});
}

int64_t VersionOf(const text::Json& event) {
  return base::ParseInt(text::GetString(event, {"metadata", "resourceVersion"})).value_or(0);
}

// Of the job itself and of its pods, oldest first.
base::Result<std::vector<JobEvent>> FetchEvents(cluster::Client& client, const Context& context,
                                                const TrainingJob& job, base::Time now) {
  std::set<std::string, std::less<>> uids = {job.summary.uid};
  for (const text::Json& pod : job.pods) uids.emplace(text::GetString(pod, {"metadata", "uid"}));
  cluster::ListOptions options;
  options.namespace_name = job.summary.namespace_name;
  // A namespace may have hundreds of thousands, of other jobs.
  options.read = [&uids](std::string_view text) -> base::Result<text::Json> {
    static const text::Projection kAbout{{"involvedObject", "uid"}};
    TRY_ASSIGN(const text::Json event, text::ParsePart(text, kAbout));
    const bool is_ours = uids.contains(text::GetString(event, {"involvedObject", "uid"}));
    return is_ours ? text::ParseJson(text) : text::Json(nullptr);
  };
  TRY_ASSIGN(cluster::ObjectList list, client.List(api::kEvents, options));
  std::erase_if(list.items, [](const text::Json& event) { return event.is_null(); });
  // Many are of one second; those of a kind were written in the order of their versions.
  std::stable_sort(
      list.items.begin(), list.items.end(),
      [](const text::Json& a, const text::Json& b) { return VersionOf(a) < VersionOf(b); });
  std::vector<std::pair<base::Time, JobEvent>> found;
  for (const text::Json& event : list.items) {
    const bool is_pod = text::GetString(event, {"involvedObject", "kind"}) == "Pod";
    const base::Time time = EventTime(event);
    std::string message = UseProgramName(context, std::string(text::GetString(event, {"message"})));
    std::replace(message.begin(), message.end(), '\n', ' ');
    found.emplace_back(
        time, JobEvent{fmt::format("{}/{}", is_pod ? "pod" : job.summary.trainer,
                                   text::GetString(event, {"involvedObject", "name"})),
                       std::string(text::GetString(event, {"type"})),
                       base::ShortDuration(std::max(now - time, base::Duration(0))),
                       fmt::format("[{}] {}", text::GetString(event, {"reason"}), message)});
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<JobEvent> events;
  for (auto& [time, event] : found) events.push_back(std::move(event));
  return events;
}

// Arena's page ends with the TensorBoard's address: under its name a problem is told on stderr.
std::string ProblemToShow(const Context& context, std::string problem) {
  if (context.program != "arena" || problem.empty()) return problem;
  base::LogWarn("the tensorboard does not run yet: {}", problem);
  return "";
}

base::Result<int> RunGet(Context& context, const GetFlags& flags, cli::Invocation& call) {
  TRY_ASSIGN(const Format format, FormatOf(flags.output, call));
  if (IsForMachines(format)) KeepOutputPure(context);
  TRY_ASSIGN(cluster::Client * client, context.connect(context));
  const std::string& name = call.args[0];
  const std::string namespace_name = context.Namespace();
  TRY_ASSIGN(TrainingJob job, FindJobOfType(*client, context, namespace_name, name, flags.type));
  AddWordsOfKueue(*client, job);
  if (flags.ranks) {
    const std::vector<RankState> ranks = RanksOf(*client, context, job);
    TRY(call.out.Write(IsForMachines(format) ? RenderDocument(RanksToJson(ranks), format)
                                             : RenderRanks(ranks)));
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
  TellReasonApart(context, job.summary);
  const base::Time now = context.clock.Now();
  if (context.program != "arena" && job.summary.status == "PENDING") {
    // Best effort: the reason stands without it.
    const auto forecast = AskForecast(*client, context, job.summary.namespace_name, name);
    if (forecast) extras.starts = StartsLine(*forecast, now);
  }
  if (extras.tensorboard) {
    extras.tensorboard_problem = ProblemToShow(context, FindTensorboardState(*client, job).problem);
  }
  extras.gpus = flags.gpus;
  extras.events = flags.events;
  if (context.program != "arena")
    extras.logs_command = fmt::format("{} logs {}", context.program, name);
  if (flags.events) {
    TRY_ASSIGN(extras.event_rows, FetchEvents(*client, context, job, now));
  }
  if (KeysFor(context) == Keys::kAll) {
    extras.progress = ProgressLines(SourcesIn(ProgressWithLog(*client, context, job, 0)));
  }
  TRY(Print(context, call, RenderGet(job, format, extras, now, PainterFor(context, call))));
  // In submit's words; what is on stdout is Arena's.
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
