// `explain`: says why a job failed.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>

#include "answers/stall/recorder.h"
#include "answers/stall/stall.h"
#include "answers/verdict.h"
#include "api/names.h"
#include "api/object.h"
#include "arena/app/complete_names.h"
#include "arena/app/program_name.h"
#include "arena/folder/run_note.h"
#include "arena/history/bundle.h"
#include "arena/history/explained_trial.h"
#include "arena/history/ranks.h"
#include "arena/history/trials.h"
#include "arena/history/verdict_json.h"
#include "arena/jobs/absent_pods.h"
#include "arena/jobs/job_output.h"
#include "arena/jobs/kueue.h"
#include "arena/logs/evidence.h"
#include "arena/run/sweep_files.h"
#include "arena/verbs.h"
#include "base/strings.h"

namespace arena {
namespace {

struct ExplainFlags {
  std::string output, bundle;
  std::vector<std::string> logs;
  int64_t trial = -1;  // -1: the first one that failed
  bool has_all = false;
};

// Returns nullopt if the run is not a sweep, or has no failed trial.
base::Result<std::optional<ExplainedTrial>> TrialToExplain(cluster::Client& client,
                                                           const RunRecord& run,
                                                           const std::string& folder,
                                                           const ExplainFlags& flags) {
  const std::string& name = run.job.summary.name;
  if (!HasTrials(run, folder)) {
    if (flags.trial < 0) return std::nullopt;
    return base::Fail(base::Code::kInvalidArgument,
                      fmt::format("--trial is for a sweep, and {} is none", name));
  }
  const auto rows = TrialsOf(client, run, folder);
  if (!rows && flags.trial < 0) return std::nullopt;  // the whole log is explained then
  if (!rows) return base::Fail(rows.error());
  const auto trials = base::ParseInt(api::Annotation(run.job.job, api::kTrialsAnnotation));
  return ChooseTrial(*rows, trials.value_or(static_cast<int64_t>(rows->size())),
                     flags.trial < 0 ? std::nullopt : std::optional(flags.trial), name);
}

base::Result<int> Pack(cluster::Client& client, const Context& context, const RunRecord& run,
                       const Judged& judged, const std::string& head, const ExplainFlags& flags,
                       cli::Output& out) {
  const std::string screen =
      head + "\n" + answers::Render(judged.verdict, judged.evidence, true, answers::kUsualWidth);
  TRY(WriteBundle(client, context, run, judged.evidence,
                  VerdictToJson(judged.verdict, judged.evidence), screen, flags.bundle));
  TRY(
      out.Write(fmt::format("{} has the verdict, the job, its pods and their logs.\n"
                            "Secrets that muster knows are masked; check it before you pass "
                            "it on.\n",
                            flags.bundle)));
  return 0;
}

// What is shown about a run, or about files.
struct Explained {
  Judged judged;
  std::string head;  // "" for files
  std::optional<ExplainedTrial> trial;
};

base::Status Show(const Explained& of, const ExplainFlags& flags, Format format, cli::Output& out) {
  if (IsForMachines(format)) {
    text::Json json = VerdictToJson(of.judged.verdict, of.judged.evidence);
    if (of.trial) json.as_object()["trial"] = ToJson(*of.trial);
    return out.Write(RenderDocument(json, format));
  }
  const int columns = out.Width();
  const size_t width = columns > 0 ? static_cast<size_t>(columns) : answers::kUsualWidth;
  if (!of.head.empty()) TRY(out.Write(of.head + "\n"));
  return out.Write(answers::Render(of.judged.verdict, of.judged.evidence, flags.has_all, width));
}

// A running job whose ranks print nothing and do nothing may hang. Without Python nobody can tell
// who waits for whom, but the kernel says what each of them does.
void AddSilentRanks(cluster::Client& client, const Context& context, const RunRecord& run,
                    answers::Verdict& verdict) {
  constexpr std::chrono::seconds kLongSilence{10};
  constexpr double kIdle = 0.05;  // processors
  const TrainingJob& job = run.job;
  if (!context.cluster_is_this_machine || job.summary.status != "RUNNING") return;
  const base::Time now = context.clock.Now();
  if (now - job.summary.start_time.value_or(now) < kLongSilence) return;
  RankLogs logs;
  const std::vector<RankState> ranks =
      RanksOf(client, context, job, logs, {RankLook::kWithoutStacks});
  std::map<std::string, std::vector<int>> alike;
  base::Duration quiet = now - *job.summary.start_time;
  for (const RankState& rank : ranks) {
    if (!rank.is_native || !rank.cpu || *rank.cpu >= kIdle) return;
    quiet = std::min(quiet, rank.quiet.value_or(quiet));
    alike[rank.doing.empty() ? "the kernel does not say where it is" : rank.doing].push_back(
        rank.rank);
  }
  if (alike.empty() || quiet < kLongSilence) return;
  verdict.evidence.push_back(
      {std::nullopt, "ranks",
       fmt::format("none has printed anything for {}, and none uses a processor: they may hang",
                   base::ShortDuration(quiet))});
  for (const auto& [doing, which] : alike) {
    verdict.evidence.push_back(
        {std::nullopt, "kernel", fmt::format("{}: {}", answers::NameRanks(which), doing)});
  }
  verdict.missing.emplace_back(
      "stacks and collectives: the ranks run no Python that says where it is");
}

// `why` says how it is known that nothing has failed.
base::Status ShowWell(cluster::Client& client, const Context& context, const RunRecord& run,
                      Explained& of, const std::string& why, const ExplainFlags& flags,
                      Format format, cli::Output& out) {
  answers::Verdict& verdict = of.judged.verdict;
  const size_t known = verdict.evidence.size();
  const size_t lacked = verdict.missing.size();
  AddSilentRanks(client, context, run, verdict);
  if (auto recorder = answers::MissingRecorder(why); !recorder.empty()) {
    verdict.missing.push_back(std::move(recorder));
  }
  if (IsForMachines(format)) {
    verdict.kind = "none";
    verdict.title = why;
    return Show(of, flags, format, out);
  }
  TRY(out.Write(fmt::format("{}: {}\n", of.head, InLocalTime(why))));
  for (size_t i = known; i < verdict.evidence.size(); ++i) {
    TRY(out.Write(fmt::format("{}: {}\n", verdict.evidence[i].source, verdict.evidence[i].text)));
  }
  for (size_t i = lacked; i < verdict.missing.size(); ++i) {
    TRY(out.Write(fmt::format("Missing: {}\n", verdict.missing[i])));
  }
  const std::string lost = api::IsWaiting(run.job.summary.status) ? "" : LostLoss(client, run);
  if (lost.empty()) return {};
  return out.Write(
      fmt::format("But a loss is not a number any more: {}\nLower the learning rate, clip "
                  "gradients, look at the data of that step.\n",
                  api::OneLine(lost)));
}

base::Result<int> ExplainRun(Context& context, const ExplainFlags& flags, Format format,
                             cli::Invocation& call) {
  TRY_ASSIGN(cluster::Client * client, context.connect(context));
  TRY_ASSIGN(RunRecord run, FindRun(*client, context, call.args[0]));
  AddWordsOfKueue(*client, run.job);
  AddWordsOfAbsentPods(*client, run.job);
  AddWordsOfReplacedPods(*client, run.job);
  if (run.job.hidden_pods && !flags.bundle.empty()) return base::Fail(*run.job.hidden_pods);
  const std::string& name = run.job.summary.name;
  const std::string folder = RunFolderOf(run.job.job, context.environment);
  Explained of;
  TRY_ASSIGN(of.trial, TrialToExplain(*client, run, folder, flags));
  std::optional<EndedTrial> ended;
  if (of.trial) ended = EvidenceToRead(*of.trial, folder);
  of.judged = VerdictOf(*client, context, run, ended ? &*ended : nullptr);
  if (run.job.hidden_pods) {
    of.judged.verdict.missing.push_back("the instances: " + run.job.hidden_pods->message);
  }
  of.head = fmt::format("{} ({}) {}", name, run.id(), run.job.summary.status);
  auto well = NotFailed(run);
  if (of.trial) {
    const std::string command =
        fmt::format("{} explain {}{}", context.program, name, FlagsOfPlace(context));
    of.head += "\nTrial:     " + Describe(*of.trial, command);
    well = of.trial->HasFailed() ? std::nullopt : std::optional<std::string>("nothing failed");
  }
  if (!flags.bundle.empty()) {
    return Pack(*client, context, run, of.judged, of.head, flags, call.out);
  }
  if (well && of.judged.verdict.kind == answers::kUnknown) {
    TRY(ShowWell(*client, context, run, of, *well, flags, format, call.out));
  } else {
    if (!IsForMachines(format) && api::IsWaiting(run.job.summary.status)) {
      of.judged.verdict.line = InLocalTime(std::move(of.judged.verdict.line));
    }
    TRY(Show(of, flags, format, call.out));
  }
  return 0;
}

base::Result<int> RunExplain(Context& context, const ExplainFlags& flags, cli::Invocation& call) {
  TRY_ASSIGN(const Format format, FormatOf(flags.output, call));
  if (IsForMachines(format)) KeepOutputPure(context);
  if (flags.logs.empty()) return ExplainRun(context, flags, format, call);
  std::vector<std::string> paths = flags.logs;
  paths.insert(paths.end(), call.args.begin(), call.args.end());
  Explained of;
  TRY_ASSIGN(of.judged.evidence, EvidenceIn(paths));
  for (const std::string& path : paths) {
    if (IsSweep(path)) AddTrialEnds(path, of.judged.evidence);
  }
  of.judged.verdict = answers::Explain(of.judged.evidence);
  TRY(Show(of, flags, format, call.out));
  return 0;
}

}  // namespace

void AddExplain(cli::Command& root, Context& context) {
  cli::Command& verb =
      root.Add("explain RUN", "Explain why a job failed: which rank, what, and what to do")
          .Args(cli::MinArgs(0))
          .Help("arena/history/explain", context.program);
  auto flags = std::make_shared<ExplainFlags>();
  verb.flags().StringArray(
      &flags->logs, "logs",
      "explain the logs in the file or folder `PATH`, and in further arguments; - is stdin");
  verb.flags().Int(&flags->trial, "trial", -1,
                   "for a sweep: the `TRIAL` to explain; -1: the first that failed");
  verb.flags().Bool(&flags->has_all, "all", false, "show all evidence, not only its first lines");
  verb.flags().String(&flags->bundle, "bundle", "",
                      "write everything about the run to this `FILE`, a .tar.gz for a colleague");
  AddDocumentFlag(verb.flags(), &flags->output);
  verb.Check([flags](cli::Invocation& call) -> base::Status {
    TRY(FormatOf(flags->output, call));
    if (!flags->bundle.empty() && (!flags->logs.empty() || !flags->output.empty())) {
      return base::Fail(base::Code::kInvalidArgument,
                        "--bundle takes a run, without --logs and --output");
    }
    if (flags->trial >= 0 && !flags->logs.empty()) {
      return base::Fail(base::Code::kInvalidArgument, "--trial takes a run, without --logs");
    }
    if (!flags->logs.empty() || call.args.size() == 1) return {};
    return base::Fail(base::Code::kInvalidArgument,
                      "explain takes one job, or files of logs after --logs");
  });
  verb.CompleteArgs(
      [&context](cli::Invocation&, std::string_view) { return CompleteJobNames(context); });
  verb.Run([flags, &context](cli::Invocation& call) { return RunExplain(context, *flags, call); });
}

}  // namespace arena
