#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "api/names.h"
#include "api/object.h"
#include "api/resources.h"
#include "arena/app/complete_names.h"
#include "arena/app/ownership.h"
#include "arena/app/trainer.h"
#include "arena/jobs/jobs.h"
#include "arena/listing/records.h"
#include "arena/logs/all_logs.h"
#include "arena/logs/follow.h"
#include "arena/logs/live_output.h"
#include "arena/logs/rank_lines.h"
#include "arena/verbs.h"
#include "base/log.h"
#include "base/strings.h"
#include "cli/end_with_reader.h"

namespace arena {
namespace {

using base::Code;
using base::Fail;

struct LogFlags {
  std::string type, since, since_time, instance, container, ranks, grep;
  int64_t tail = -1;
  bool follow = false, timestamps = false, all = false, raw = false, errors = false;
  LineChoice choice{};        // from --rank and --grep
  JobWatch* watch = nullptr;  // that of the caller who shows the lines, with --follow
};

// Returns the seconds of "1h1m1s"; nullopt if the text contains anything but digits, h, m and s.
std::optional<int64_t> ParseSince(std::string_view text) {
  if (text.empty()) return std::nullopt;
  const bool is_plain = std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= '0' && c <= '9') || c == 'h' || c == 'm' || c == 's';
  });
  const auto duration = base::ParseGoDuration(text);
  if (!is_plain || !duration || text == "0") return std::nullopt;
  return std::chrono::duration_cast<std::chrono::seconds>(*duration).count();
}

base::Result<cluster::LogOptions> ToOptions(const LogFlags& flags, const Context& context) {
  cluster::LogOptions options;
  options.container = flags.container;
  options.follow = flags.follow;
  options.timestamps = flags.timestamps;
  options.since_time = flags.since_time;
  // Arena takes 0 for all, kubectl for none.
  if (flags.tail > 0 || (flags.tail == 0 && context.program != "arena")) {
    options.tail_lines = flags.tail;
  }
  if (!flags.since.empty()) {
    options.since_seconds = ParseSince(flags.since);
    if (!options.since_seconds) {
      return Fail(Code::kInvalidArgument,
                  "failed to validate log args: failed to parse since seconds,invalid "
                  "format,should like: ['1h','1m','1s','1h1m1s'...]");
    }
    if (*options.since_seconds == 0) {
      return Fail(Code::kInvalidArgument,
                  "failed to validate log args: --since is invalid: it must be more than 0s");
    }
    if (!flags.since_time.empty()) {
      return Fail(Code::kInvalidArgument,
                  "failed to validate log args: give either --since or --since-time");
    }
  }
  if (!flags.since_time.empty()) {
    if (const auto time = base::ParseRfc3339(flags.since_time); !time) {
      return Fail(time.error().Wrap("failed to validate log args: failed to parse since time"));
    }
  }
  return options;
}

// Whether the job has, or will have, an instance with that name.
bool IsPlannedInstance(const text::Json& job, std::string_view instance) {
  for (const auto& [type, spec] : text::Members(job, {"spec", "pytorchReplicaSpecs"})) {
    const int64_t replicas = text::GetInt(spec, {"replicas"}).value_or(1);
    const std::string prefix =
        fmt::format("{}-{}-", text::GetString(job, {"metadata", "name"}), base::ToLower(type));
    if (!instance.starts_with(prefix)) continue;
    const auto index = base::ParseInt(instance.substr(prefix.size()));
    if (index && *index >= 0 && *index < replicas) return true;
  }
  return false;
}

// Returns the instance that failed first (but not under Arena's name), otherwise the chief, the
// instance where an elastic job's ranks meet, or the only one. "" if none of these is known.
std::string DefaultInstance(const Context& context, const TrainingJob& job) {
  const std::string& failed = job.summary.first_failure.instance;
  if (context.program != "arena" && job.Pod(failed) != nullptr) {
    const std::string& chief = job.summary.chief_name;
    if (!chief.empty() && failed != chief) {
      base::LogInfo("the log of {}, which failed first; the chief's: -i {}", failed, chief);
    }
    return failed;
  }
  if (!job.summary.chief_name.empty()) return job.summary.chief_name;
  if (text::Find(job.job, {"spec", "elasticPolicy"}) != nullptr) {
    std::string first = api::ReplicaName(job.summary.name, api::kWorker, 0);
    if (job.Pod(first) != nullptr) return first;
  }
  return job.pods.size() == 1 ? std::string(text::GetString(job.pods[0], {"metadata", "name"}))
                              : "";
}

// After so many failures in a row without a single byte, the server is not asked any more.
constexpr int kMaxBreaks = 5;

// Prints all but the first `printed` bytes of the answer, and adds the bytes that it prints to
// `printed`.
base::Status PrintFrom(cluster::Client& client, const TrainingJob& job, const std::string& instance,
                       const cluster::LogOptions& options, cli::Output& out, size_t& printed) {
  TRY_ASSIGN(const std::unique_ptr<net::BodyStream> stream,
             client.Logs(job.summary.namespace_name, instance, options));
  for (size_t to_skip = printed;;) {
    TRY_ASSIGN(const std::optional<std::string> bytes, stream->Read());
    if (!bytes) return {};
    const size_t skipped = std::min(to_skip, bytes->size());
    to_skip -= skipped;
    TRY(out.Write(std::string_view(*bytes).substr(skipped)));
    printed += bytes->size() - skipped;
  }
}

base::Status PrintLog(cluster::Client& client, const TrainingJob& job, const std::string& instance,
                      cluster::LogOptions options, cli::Output& out) {
  TRY_ASSIGN(options.container, ContainerToRead(job, instance, options.container));
  // The end of a log, or the part after some time, may be different when it is requested again.
  const bool is_whole = !options.tail_lines && !options.since_seconds && options.since_time.empty();
  size_t printed = 0;
  for (int breaks = 0;;) {
    const size_t before = printed;
    const base::Status status = PrintFrom(client, job, instance, options, out, printed);
    if (status || status.error().code != Code::kUnavailable) return status;
    breaks = printed > before ? 1 : breaks + 1;
    if (breaks > kMaxBreaks || (printed > 0 && !is_whole)) return status;
    base::LogDebug("the log broke off after {} bytes and is requested again: {}", printed,
                   status.error().message);
  }
}

base::Result<TrainingJob> FindJobOfLogs(cluster::Client& client, const Context& context,
                                        const std::string& name, bool is_pytorch) {
  base::Result<TrainingJob> found = Fail(NotFoundJob(context, context.Namespace(), name));
  if (is_pytorch) found = FindJob(client, context, context.Namespace(), name);
  if (!found && found.error().code == Code::kNotFound) {
    TRY(CheckNamespace(client, context, context.Namespace()));
    found.error().message =
        fmt::format("training job not found,please use '{} list' to make sure job is existed{}",
                    context.program, MeantJob(context.program, name));
  }
  return found;
}

AllLogsRequest RequestOf(const Context& context, const TrainingJob& job, const LogFlags& flags,
                         const cluster::LogOptions& options, const cli::Output& out) {
  AllLogsRequest request{job, options};
  request.has_colours = out.HasColour();
  request.is_raw = flags.raw || context.program == "arena";
  request.choice = flags.choice;
  request.only_errors = flags.errors;
  return request;
}

base::Result<int> RunAllLogs(cluster::Client& client, const Context& context,
                             const TrainingJob& job, const LogFlags& flags,
                             const cluster::LogOptions& options, cli::Output& out) {
  const AllLogsRequest request = RequestOf(context, job, flags, options, out);
  if (options.follow) {
    TRY(FollowAllLogs(client, context, request, out));
    return 0;
  }
  if (job.pods.empty()) {
    return Fail(Code::kNotFound,
                fmt::format("not found instances of the job {}", job.summary.name));
  }
  TRY(PrintAllLogs(client, request, out));
  return 0;
}

// Whether the pods and their logs are gone, but the operator has kept the last lines of the
// instance that failed first (docs/operator.md).
bool HasKeptLines(const TrainingJob& job, const LogFlags& flags) {
  const std::string& failed = job.summary.first_failure.instance;
  const bool is_asked = flags.instance.empty() || flags.instance == failed;
  return is_asked && job.Pod(failed) == nullptr && !job.summary.last_lines.empty();
}

base::Status PrintKeptLines(const TrainingJob& job, cli::Output& out) {
  base::LogWarn("{} is gone, and its log with it: these are the last lines that were kept",
                job.summary.first_failure.instance);
  return out.Write(job.summary.last_lines + "\n");
}

// Prints the logs of deleted pods that belong to the job.
base::Result<int> PrintLogsOfPast(cluster::Client& client, const Context& context,
                                  const TrainingJob& job, const LogFlags& flags,
                                  cluster::LogOptions options, cli::Output& out) {
  options.follow = false;
  if (flags.all) {
    AllLogsRequest request = RequestOf(context, job, flags, options, out);
    request.is_gone = true;
    TRY(PrintAllLogs(client, request, out));
    return 0;
  }
  std::string instance = flags.instance.empty() ? DefaultInstance(context, job) : flags.instance;
  if (flags.instance.empty() && job.Pod(instance) == nullptr) {
    instance = api::Name(job.pods.front());
  }
  const text::Json* const pod = job.Pod(instance);
  if (pod == nullptr) {
    return Fail(Code::kNotFound, fmt::format("{} had no instance {}", job.summary.name, instance));
  }
  options.pod_uid = api::Uid(*pod);
  TRY(PrintLog(client, job, instance, options, out));
  return 0;
}

// Prints the logs of a run whose job was deleted.
base::Result<int> PrintGoneLogs(cluster::Client& client, const Context& context,
                                const RunRecord& run, const LogFlags& flags,
                                const cluster::LogOptions& options, cli::Output& out) {
  const TrainingJob& job = run.job;
  if (!context.cluster_is_this_machine) {
    if (HasKeptLines(job, flags)) {
      TRY(PrintKeptLines(job, out));
      return 0;
    }
    return Fail(Code::kNotFound,
                fmt::format("{} is gone from the cluster, and its logs with it: `{} show {}` shows "
                            "what this machine saw of it",
                            job.summary.name, context.program, job.summary.name));
  }
  base::LogInfo("{} ({}) was deleted at {}: this is what is remembered of it", job.summary.name,
                run.id(), LocalTime(*run.deleted));
  if (job.pods.empty()) {
    return Fail(Code::kNotFound, fmt::format("no instance of {} ever started", job.summary.name));
  }
  return PrintLogsOfPast(client, context, job, flags, options, out);
}

// Notes whether anything was written.
class NotedOutput : public cli::Output {
 public:
  explicit NotedOutput(cli::Output& out) : out_(out) {}

  base::Status Write(std::string_view text) override {
    has_text_ = has_text_ || !text.empty();
    return out_.Write(text);
  }
  bool IsTerminal() const override { return out_.IsTerminal(); }
  bool HasColour() const override { return out_.HasColour(); }
  int Width() const override { return out_.Width(); }
  bool has_text() const { return has_text_; }

 private:
  cli::Output& out_;
  bool has_text_ = false;
};

// Calls `print` with flags, options and an output that select the ranks and the text that the user
// asked for.
template <typename Print>
base::Result<int> WithChoice(cluster::Client& client, const Context& context,
                             const TrainingJob& job, LogFlags flags, cluster::LogOptions options,
                             cli::Output& output, const Print& print) {
  NotedOutput out(output);
  const auto end = [&](int code) {
    const bool is_mixed = !flags.ranks.empty() && flags.choice.map.processes > 1;
    if (code == 0 && is_mixed && !out.has_text() && flags.grep.empty() && !flags.errors) {
      base::LogInfo(
          "no line is marked as one of these ranks': torchrun marks the lines of ranks that share "
          "an instance only with --tee=3, `{} run -n` always",
          context.program);
    }
    return code;
  };
  LineChoice& choice = flags.choice;
  if (context.program != "arena") choice = {{}, flags.grep, RankMap::Of(job.job)};
  if (!flags.ranks.empty()) {
    TRY_ASSIGN(choice.ranks, ParseRanks(flags.ranks));
    const std::vector<std::string> instances = choice.map.InstancesOf(choice.ranks);
    if (instances.empty()) {
      return Fail(Code::kInvalidArgument,
                  fmt::format("--rank \"{}\" is invalid: the ranks of {} are 0 to {}", flags.ranks,
                              job.summary.name, choice.map.size() - 1));
    }
    flags.all = flags.errors || choice.map.CountOf(choice.ranks) > 1;
    if (!flags.all) flags.instance = instances.front();
  }
  if (flags.all) {
    TRY_ASSIGN(const int code, print(flags, options, out));
    return end(code);
  }
  const bool needs_instance =
      !flags.ranks.empty() || !flags.grep.empty() || choice.map.processes > 1;
  if (needs_instance && flags.instance.empty()) flags.instance = DefaultInstance(context, job);
  const auto print_to = [&](auto& lines) -> base::Result<int> {
    TRY_ASSIGN(const int code, print(flags, options, lines));
    TRY(lines.Finish());
    return end(code);
  };
  if (flags.follow) {
    LiveLines lines(client, context, job.job, choice, flags.instance, flags.timestamps, out);
    flags.watch = lines.watch();
    return print_to(lines);
  }
  ChosenLines lines(out, choice, flags.instance, flags.timestamps);
  const bool chooses = !choice.grep.empty() || (!choice.ranks.empty() && choice.map.processes > 1);
  if (chooses && options.tail_lines) {  // the limit is on the selected lines
    lines.KeepLast(static_cast<size_t>(*std::exchange(options.tail_lines, std::nullopt)));
  }
  return print_to(lines);
}

// The end of a deleted job's log looks like that of any other.
void SayIfDeleted(cluster::Client& client, const Context& context, const TrainingJob& job) {
  if (context.program == "arena") return;
  const auto now = client.Get(api::kPyTorchJobs, job.summary.namespace_name, job.summary.name);
  const bool is_gone =
      now ? api::Uid(*now) != job.summary.uid : now.error().code == Code::kNotFound;
  if (is_gone) base::LogWarn("{} was deleted while its log was followed", job.summary.name);
}

base::Result<int> PrintLogs(cluster::Client& client, const Context& context, const TrainingJob& job,
                            const LogFlags& flags, const cluster::LogOptions& options,
                            cli::Output& out) {
  if (HasKeptLines(job, flags) && (job.pods.empty() || !flags.all)) {
    TRY(PrintKeptLines(job, out));
    return 0;
  }
  if (flags.all) return RunAllLogs(client, context, job, flags, options, out);
  std::string instance = flags.instance.empty() ? DefaultInstance(context, job) : flags.instance;
  if (instance.empty() && job.pods.empty() && flags.follow) {
    instance = api::ReplicaName(job.summary.name, api::kMaster, 0);
  }
  if (instance.empty()) {
    if (job.pods.empty()) {
      return Fail(Code::kNotFound,
                  fmt::format("not found instances of the job {}", job.summary.name));
    }
    std::string names;
    for (const text::Json& pod : job.pods) {
      names += fmt::format("{}\n", text::GetString(pod, {"metadata", "name"}));
    }
    // Arena prints this on stdout (compat/arena.md 2.1).
    TRY(
        out.Write(fmt::format("There is {} instances have been found:\n\n{}\nplease use '-i' "
                              "or '--instance' to filter.\n",
                              job.pods.size(), names)));
    return cli::kExitFailure;
  }
  const bool exists = job.Pod(instance) != nullptr;
  if (!exists && !(flags.follow && IsPlannedInstance(job.job, instance))) {
    if (job.pods.empty() && IsPlannedInstance(job.job, instance)) {
      return Fail(Code::kNotFound,
                  fmt::format("not found instances of the job {}", job.summary.name));
    }
    return Fail(UnknownInstance(context, instance, job.summary.name));
  }
  if (!flags.follow) {
    TRY(PrintLog(client, job, instance, options, out));
    return 0;
  }
  FollowRequest request{job.summary.namespace_name,
                        job.summary.name,
                        PodSelector(job.job),
                        instance,
                        flags.container,
                        options};
  request.watch = flags.watch;
  TRY(Follow(client, context, request, out));
  return 0;
}

base::Result<int> RunLogs(Context& context, const LogFlags& flags, cli::Invocation& call) {
  TRY_ASSIGN(const cluster::LogOptions options, ToOptions(flags, context));
  TRY_ASSIGN(const bool is_pytorch, MeansPyTorch(flags.type));
  TRY_ASSIGN(cluster::Client * client, context.connect(context));
  const std::string& name = call.args[0];
  auto found = FindJobOfLogs(*client, context, name, is_pytorch);
  if (!found && found.error().code == Code::kNotFound && context.program != "arena") {
    TRY_ASSIGN(const auto gone, FindGoneRun(*client, context, name));
    if (gone) {
      return WithChoice(*client, context, gone->job, flags, options, call.out,
                        [&](const LogFlags& chosen, const auto& with, cli::Output& out) {
                          return PrintGoneLogs(*client, context, *gone, chosen, with, out);
                        });
    }
  }
  // One of Arena's documents prints `logs -- help`, where help is not a job's name
  // (docs/errata.md).
  if (!found && found.error().code == Code::kNotFound && name == "help" && call.dash == 0u) {
    TRY(call.out.Write(call.command.HelpText()));
    return 0;
  }
  if (!found) return Fail(std::move(found.error()));
  const bool may_have_past =
      found->pods.empty() && !options.follow && found->summary.status == "SUSPENDED";
  if (may_have_past && context.program != "arena") {
    TRY_ASSIGN(const TrainingJob past, WithPastPods(*client, context, *found));
    if (!past.pods.empty()) {
      base::LogInfo("{0} is suspended: this is its log until then", name);
      return WithChoice(*client, context, past, flags, options, call.out,
                        [&](const LogFlags& chosen, const auto& with, cli::Output& out) {
                          return PrintLogsOfPast(*client, context, past, chosen, with, out);
                        });
    }
  }
  // There may be nothing to write for long, as while one line repeats and is folded.
  const cli::EndWithReader end(options.follow ? STDOUT_FILENO : -1);
  TRY_ASSIGN(const int code,
             WithChoice(*client, context, *found, flags, options, call.out,
                        [&](const LogFlags& chosen, const auto& with, cli::Output& out) {
                          return PrintLogs(*client, context, *found, chosen, with, out);
                        }));
  if (options.follow) SayIfDeleted(*client, context, *found);
  return code;
}

}  // namespace

void AddLogs(cli::Command& root, Context& context) {
  cli::Command& verb = root.Add("logs JOB", "Print the log of a training job's instance")
                           .Aliases({"log"})
                           .Args(cli::MaxArgs(1))
                           .Help("arena/logs/logs", context.program);
  auto flags = std::make_shared<LogFlags>();
  cli::FlagSet& set = verb.flags();
  AddTypeFlag(set, &flags->type);
  set.Bool(&flags->follow, "follow", false, "follow until the instance (with --all, the job) ends")
      .Short('f');
  set.String(&flags->since, "since", "", "only lines that are newer: 5s, 2m, 1h1m1s");
  set.String(&flags->since_time, "since-time", "", "only lines after this time (RFC 3339)");
  set.Int(&flags->tail, "tail", -1, "only this many lines from the end; -1 for all").Short('t');
  set.Bool(&flags->timestamps, "timestamps", false, "print the time before each line");
  const bool has_arenas_flags = context.program == "arena";
  AddInstanceFlag(set, &flags->instance, context,
                  has_arenas_flags
                      ? "the instance; by default the master"
                      : "the instance; by default the one that failed first, else the master");
  set.Bool(&flags->all, "all", false,
           has_arenas_flags
               ? "of all instances, in the order of time, each line after its instance's name"
               : "the logs of all ranks in the order of time; equal lines of several ranks are "
                 "shown once");
  if (!has_arenas_flags) {
    set.Bool(&flags->raw, "raw", false,
             "with --all: every line after its instance's name, without folding");
    set.Bool(&flags->errors, "errors", false,
             "for all ranks, the lines around the first error of each");
    set.String(&flags->ranks, "rank", "", "only these `RANKS`: 1, or 0,4-7");
    set.String(&flags->grep, "grep", "", "only lines that contain this `TEXT`");
  }
  set.String(&flags->container, "container", "", "the container of the instance")
      .Short('c')
      .Choices({"pytorch", "init-code"});
  verb.Check([flags, &context](cli::Invocation& call) -> base::Status {
    TRY(NeedJobName(call));
    TRY(MeansPyTorch(flags->type));
    if (flags->errors && flags->follow) {
      return Fail(Code::kInvalidArgument,
                  "--errors reads the logs as they are now: leave --follow out");
    }
    if (flags->errors && !flags->instance.empty()) {
      return Fail(Code::kInvalidArgument, "give either --errors or --instance, not both");
    }
    if (flags->errors) flags->all = true;
    if (flags->raw && !flags->all && flags->ranks.empty()) {
      return Fail(Code::kInvalidArgument, "--raw is for --all: give both");
    }
    if (flags->all && !flags->instance.empty()) {
      return Fail(Code::kInvalidArgument, "give either --all or --instance, not both");
    }
    if (call.command.Changed("rank")) {
      if (!flags->instance.empty()) {
        return Fail(Code::kInvalidArgument, "give either --rank or --instance, not both");
      }
      TRY(ParseRanks(flags->ranks));
    }
    TRY(ToOptions(*flags, context));
    return {};
  });
  CompleteOneJob(verb, context);
  verb.Run([flags, &context](cli::Invocation& call) { return RunLogs(context, *flags, call); });
}

}  // namespace arena
