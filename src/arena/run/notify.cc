#include "arena/run/notify.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <thread>

#include "api/job/command.h"
#include "api/names.h"
#include "api/object.h"
#include "api/pod.h"
#include "arena/app/web_service.h"
#include "arena/folder/run_note.h"
#include "arena/listing/records.h"
#include "arena/logs/last_lines.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/log.h"
#include "base/machine/host_name.h"
#include "base/strings.h"
#include "net/socket/url.h"
#include "process/file_lock.h"
#include "process/program_output.h"
#include "process/spawn.h"

namespace arena {
namespace {

using base::Code;
using base::Fail;

// How long a failing URL is retried, at growing intervals.
constexpr std::chrono::minutes kNoticePatience{5};
constexpr std::chrono::seconds kFirstNoticePause{1};
constexpr std::chrono::seconds kLongestNoticePause{30};
// Several lines are read from the end of the log because the last ones may be blank or progress
// bars.
constexpr int64_t kReadLines = 20;
constexpr const char* kSessionBus = "DBUS_SESSION_BUS_ADDRESS";

struct Notice {
  text::Json said;  // a program reads it on its standard input; a URL receives it as the body
  base::Environment environment;   // that of the user who submitted the job
  std::vector<std::string> buses;  // from SessionBuses
};

std::string LastLineOf(cluster::Client& client, const RunRecord& run) {
  const std::string lines = LastLinesOf(client, run, kReadLines);
  const std::string_view text = base::Trim(lines);
  const size_t newline = text.rfind('\n');
  return std::string(newline == std::string_view::npos ? text : text.substr(newline + 1));
}

text::Json WordsFor(const TrainingJob& job, const std::string& event, const std::string& last_line,
                    base::Time now) {
  const api::TrainingSummary& summary = job.summary;
  const base::Time start = summary.start_time.value_or(summary.created);
  const base::Duration took = summary.completion_time.value_or(now) - start;
  return text::Object{
      {"event", event},
      {"job", summary.name},
      {"namespace", summary.namespace_name},
      {"status", summary.status},
      {"reason", summary.reason},
      {"seconds", std::chrono::duration_cast<std::chrono::seconds>(took).count()},
      {"lastLine", last_line},
      {"command", api::CommandOf(job.job)},
      {"host", base::HostName()},
      // Slack, Mattermost and similar services display this member.
      {"text", fmt::format("{} {}{}{}", summary.name,
                           event == "hang" ? "hangs" : base::ToLower(summary.status),
                           summary.reason.empty() ? "" : ": ", summary.reason)}};
}

// The user's desktop may be on the bus of the session in which the job was submitted, on this
// process's own, or on the one that systemd keeps for the user, which exists even if the others do
// not.
std::vector<std::string> SessionBuses(const text::Json& job, const base::Environment& environment) {
  const std::string users = fmt::format("/run/user/{}/bus", ::geteuid());
  std::vector<std::string> buses;
  for (const std::string& bus : {std::string(api::Annotation(job, api::kSessionBusAnnotation)),
                                 environment.GetOr(kSessionBus, ""),
                                 ::access(users.c_str(), W_OK) == 0 ? "unix:path=" + users : ""}) {
    if (!bus.empty() && std::ranges::find(buses, bus) == buses.end()) buses.push_back(bus);
  }
  return buses;
}

// On another cluster, the environment and the bus are the caller's: others may have written what
// the job says about its submitter.
Notice NoticeFor(cluster::Client& client, const Context& context, const RunRecord& run,
                 const std::string& event) {
  const text::Json submitted = context.cluster_is_this_machine ? run.job.job : text::Json();
  Notice notice{WordsFor(run.job, event, LastLineOf(client, run), context.clock.Now()),
                context.environment, SessionBuses(submitted, context.environment)};
  const base::Environment submitters = api::SubmittedEnvironment(submitted);
  for (const auto& [name, value] : submitters.values()) notice.environment.Set(name, value);
  return notice;
}

base::Status NotifyProgram(const std::string& command, const Notice& notice) {
  base::Environment environment = notice.environment;
  for (const char* name : {"event", "job", "status", "reason"}) {
    environment.Set("MUSTER_NOTICE_" + base::ToUpper(name),
                    std::string(text::GetString(notice.said, {name})));
  }
  // The notice reaches the program's input through a variable and a here-document, which needs no
  // second program.
  environment.Set("MUSTER_NOTICE", text::ToJson(notice.said));
  TRY_ASSIGN(
      const process::ProgramOutput output,
      process::OutputOf(
          {"sh", "-c", "{ " + command + "\n} <<EOF_OF_NOTICE\n$MUSTER_NOTICE\nEOF_OF_NOTICE"},
          environment));
  if (output.exit_code == 0) return {};
  const std::string_view said = base::Trim(output.err).substr(0, 200);
  return Fail(Code::kInternal, fmt::format("the program exited with code {}{}{}", output.exit_code,
                                           said.empty() ? "" : ": ", said));
}

base::Status NotifyDesktop(const Notice& notice) {
  std::string why = "there is no session: DBUS_SESSION_BUS_ADDRESS was not set";
  for (const std::string& bus : notice.buses) {
    base::Environment environment = notice.environment;
    environment.Set(kSessionBus, bus);
    TRY_ASSIGN(const process::ProgramOutput output,
               process::OutputOf({"notify-send", "--app-name=muster",
                                  std::string(text::GetString(notice.said, {"text"}))},
                                 environment));
    if (output.exit_code == 0) return {};
    why = base::Trim(output.err);
  }
  return Fail(Code::kInternal, fmt::format("notify-send: {}", why));
}

// It is called once, with the problem, if a target failed and will be tried again.
using OnTrouble = std::function<void(const std::string& trouble)>;

// Errors name only the URL's host, because its path is often a secret.
base::Status NotifyUrl(const std::string& url, const Notice& notice, Context& context,
                       const OnTrouble& on_trouble) {
  TRY_ASSIGN(WebService service, WebService::At(url, notice.environment, {}));
  base::Duration pause = kFirstNoticePause;
  const base::Time begun = context.clock.Now();
  for (;;) {
    const auto answer = service.Send(
        {"POST", "", {{"Content-Type", "application/json"}}, text::ToJson(notice.said)});
    if (answer && answer->status < 300) return {};
    const std::string why =
        fmt::format("{}: {}", service.url().host,
                    answer ? fmt::format("it answered with status {}", answer->status)
                           : answer.error().message);
    if (context.clock.Now() - begun + pause > kNoticePatience) {
      return Fail(Code::kUnavailable,
                  fmt::format("{} (tried for {} minutes)", why, kNoticePatience.count()));
    }
    if (pause == kFirstNoticePause) {
      on_trouble(fmt::format("{}; it is tried until {}", why, LocalTime(begun + kNoticePatience)));
    }
    context.pause(pause);
    pause = std::min<base::Duration>(pause * 2, kLongestNoticePause);
  }
}

base::Status NotifyTarget(const std::string& target, const Notice& notice, Context& context,
                          const OnTrouble& on_trouble) {
  if (target == api::kNotifyDesktop) return NotifyDesktop(notice);
  if (net::IsWebUrl(target)) return NotifyUrl(target, notice, context, on_trouble);
  return NotifyProgram(target, notice);
}

// Returns the outcome in words for people. The targets are notified in parallel, because a program
// may run for a long time and a URL may be retried.
std::string NotifyAll(const std::vector<std::string>& targets, const Notice& notice,
                      Context& context, const OnTrouble& on_trouble) {
  std::vector<base::Status> results(targets.size());
  {
    std::vector<std::jthread> threads;
    for (size_t i = 0; i < targets.size(); ++i) {
      if (targets[i].empty()) continue;
      threads.emplace_back(
          [&, i] { results[i] = NotifyTarget(targets[i], notice, context, on_trouble); });
    }
  }
  std::vector<std::string> problems;
  for (const base::Status& status : results) {
    if (status) continue;
    base::LogWarn("notice of {}: {}", text::GetString(notice.said, {"job"}),
                  status.error().message);
    problems.push_back(status.error().message);
  }
  return problems.empty() ? "told at " + LocalTime(context.clock.Now())
                          : "not told: " + base::Join(problems, "; ");
}

std::string OutcomeOf(std::string_view event) {
  return fmt::format("{}-{}", api::kNotifiedAnnotation, event);
}

// Trouble has an annotation of its own, because a notice that has an outcome is not sent again
// after a restart.
std::string TroubleOf(std::string_view event) { return OutcomeOf(event) + "-trouble"; }

base::Status Annotate(cluster::Client& client, const TrainingJob& job, text::Object annotations) {
  const text::Json patch =
      text::Object{{"metadata", text::Object{{"annotations", std::move(annotations)}}}};
  const auto noted = client.Patch(api::kPyTorchJobs, job.summary.namespace_name, job.summary.name,
                                  cluster::PatchType::kMerge, patch);
  if (!noted && noted.error().code != Code::kNotFound) return Fail(noted.error());
  return {};
}

base::Status NoteTrouble(cluster::Client& client, const TrainingJob& job, const std::string& event,
                         const std::string& trouble) {
  return Annotate(client, job, {{TroubleOf(event), "not told yet: " + trouble}});
}

base::Status NoteOutcome(cluster::Client& client, const TrainingJob& job, const std::string& event,
                         const std::string& outcome) {
  return Annotate(client, job, {{OutcomeOf(event), outcome}, {TroubleOf(event), nullptr}});
}

// Finds the job as it is or, if it was deleted, as it was then.
base::Result<RunRecord> RunOfNotice(cluster::Client& client, const Context& context,
                                    const std::string& name, const std::string& uid) {
  RunRecord run;
  auto found = FindJob(client, context, context.Namespace(), name);
  if (!found && found.error().code != Code::kNotFound) return Fail(found.error());
  if (found && api::Uid(found->job) == uid) {
    run.job = std::move(*found);
    return run;
  }
  TRY_ASSIGN(auto gone, FindGoneRun(client, context, uid));
  if (gone) return std::move(*gone);
  return Fail(Code::kNotFound, fmt::format("the job {} is gone, and was not kept", name));
}

// A command runs in the folder that was run or, if that no longer exists, in the home folder.
void StandWhereItWasWritten(const text::Json& job, const base::Environment& environment) {
  const auto note = NoteIn(RunFolderOf(job, environment));
  const bool is_there = note && ::chdir((note->root + "/" + note->inside).c_str()) == 0;
  if (is_there || ::chdir(environment.GetOr("HOME", "/").c_str()) == 0) return;
  base::LogDebug("neither that folder nor the home folder exists: the command runs in /");
}

base::Result<int> RunNotify(Context& context, cli::Invocation& call) {
  const std::string& namespace_name = call.args[0];
  const std::string& event = call.args[3];
  TRY_ASSIGN(cluster::Client * client, context.connect(context));
  context.flags.namespace_name = namespace_name;
  TRY_ASSIGN(const RunRecord run, RunOfNotice(*client, context, call.args[1], call.args[2]));
  const TrainingJob& job = run.job;
  const std::string folder = context.environment.StateDir() + "/notices";
  TRY(base::MakeDirs(folder, 0700));
  const std::string path = fmt::format("{}/{}.{}", folder, api::Uid(job.job), event);
  TRY_ASSIGN(const std::optional<base::Fd> lock, process::TryLockFile(path));
  if (!lock) return 0;  // another process sends this notice
  const Notice notice = NoticeFor(*client, context, run, event);
  StandWhereItWasWritten(job.job, context.environment);
  // Files that the commands create have the same mode as those of the job's programs; this process
  // creates no others.
  if (const auto mask = api::ParseUmask(api::Annotation(job.job, api::kUmaskAnnotation))) {
    ::umask(*mask);
  }
  const std::string outcome =
      NotifyAll(base::Split(api::Annotation(job.job, api::kNotifyAnnotation), '\n'), notice,
                context, [&](const std::string& trouble) {
                  if (!run.deleted) (void)NoteTrouble(*client, job, event, trouble);
                });
  ::unlink(path.c_str());
  if (run.deleted) return 0;  // there is no object to annotate
  TRY(NoteOutcome(*client, job, event, outcome));
  return 0;
}

}  // namespace

void DeclareNotify(NotifyFlags& flags, cli::FlagSet& set) {
  set.StringArray(
      &flags.targets, "notify",
      "notify when the job ends: a `URL` that is sent JSON, a shell command that reads it, or\n"
      "the word desktop; repeatable. On Kubernetes `run` itself notifies, while it follows the\n"
      "job");
  set.String(
         &flags.on, "notify-on", "end",
         "when to notify: end, fail (only if it failed), hang or start; on Kubernetes end or fail")
      .Choices({"end", "fail", "hang", "start"});
}

base::Status CheckNotify(const NotifyFlags& flags) {
  if (flags.on != "end" && flags.on != "fail" && flags.on != "hang" && flags.on != "start") {
    return Fail(Code::kInvalidArgument,
                fmt::format("--notify-on \"{}\" is invalid: it must be end, fail, hang or start",
                            flags.on));
  }
  for (const std::string& target : flags.targets) {
    const size_t end = target.find_first_of(":/= ");
    const std::string_view scheme = std::string_view(target).substr(0, end);
    const bool is_address = end != std::string::npos && target.substr(end, 3) == "://";
    if (is_address && scheme != "http" && scheme != "https") {
      return Fail(Code::kInvalidArgument,
                  fmt::format("--notify is invalid: a URL must be http or https, not {}", scheme));
    }
    if (is_address) {
      const auto url = net::ParseUrl(target.substr(0, target.find_first_of("?#")));
      if (!url) return Fail(url.error().Wrap("--notify is invalid"));
    }
    if (base::Trim(target).empty() || target.find('\n') != std::string::npos) {
      return Fail(Code::kInvalidArgument,
                  "--notify is invalid: it is a URL, a command on one line, or the word desktop");
    }
  }
  return {};
}

base::Status MarkForNotice(const NotifyFlags& flags, const Context& context, bool is_detached,
                           SubmitOptions& options) {
  if (flags.is_on_given && context.cluster_is_this_machine) {
    options.labels[std::string(api::kNotifyAnnotation)] = flags.on;
  }
  if (flags.targets.empty()) return {};
  if (std::ranges::find(flags.targets, api::kNotifyDesktop) != flags.targets.end() &&
      !process::FindProgram("notify-send", context.environment.GetOr("PATH", ""))) {
    base::LogWarn("--notify desktop: notify-send is not installed (Debian: libnotify-bin)");
  }
  if (!context.cluster_is_this_machine) {
    if (is_detached) {
      return Fail(Code::kInvalidArgument,
                  "--notify: on another cluster `run` itself notifies: leave out --detach");
    }
    if (flags.on == "end" || flags.on == "fail") return {};
    return Fail(
        Code::kInvalidArgument,
        fmt::format("--notify-on {} is for this machine: on another cluster `run` only reports "
                    "how the job ended",
                    flags.on));
  }
  options.labels[std::string(api::kNotifyAnnotation)] = flags.on;
  options.annotations[std::string(api::kNotifyAnnotation)] = base::Join(flags.targets, "\n");
  return {};
}

void NotifyOfEnd(const NotifyFlags& flags, cluster::Client& client, Context& context,
                 const std::string& name) {
  if (flags.targets.empty()) return;
  RunRecord run;
  auto found = FindJob(client, context, context.Namespace(), name);
  if (!found) {
    base::LogWarn("notice of {}: {}", name, found.error().message);
    return;
  }
  run.job = std::move(*found);
  const std::string& status = run.job.summary.status;
  if (status != "FAILED" && (status != "SUCCEEDED" || flags.on == "fail")) return;
  const Notice notice = NoticeFor(client, context, run, "end");
  const std::string outcome =
      NotifyAll(flags.targets, notice, context, [&](const std::string& trouble) {
        base::LogWarn("notice of {}: {}", name, trouble);
        (void)NoteTrouble(client, run.job, "end", trouble);
      });
  if (const base::Status noted = NoteOutcome(client, run.job, "end", outcome); !noted) {
    base::LogWarn("record the notice in {}: {}", name, noted.error().message);
  }
}

void AddNotify(cli::Command& root, Context& context) {
  root.Add("__notify", "").Hidden().Args(cli::ExactArgs(4)).Run([&context](cli::Invocation& call) {
    return RunNotify(context, call);
  });
}

std::string NoticeOf(const text::Json& job) {
  std::string text;
  for (const char* event : {"start", "hang", "end"}) {
    std::string_view outcome = api::Annotation(job, OutcomeOf(event));
    if (outcome.empty()) outcome = api::Annotation(job, TroubleOf(event));
    if (!outcome.empty()) text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", event, outcome);
  }
  const bool is_awaited = !api::Annotation(job, api::kNotifyAnnotation).empty();
  return text.empty() && is_awaited ? "not yet" : text;
}

}  // namespace arena
