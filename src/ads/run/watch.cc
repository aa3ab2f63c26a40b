#include <fmt/format.h>

#include <memory>

#include "ads/run/cloud_runs.h"
#include "ads/verbs.h"
#include "cli/click.h"

namespace ads {
namespace {

using base::Code;
using base::Fail;

struct WatchFlags {
  LoginFlags login;
  int64_t interval = 3, wait = 90;
  bool has_status = false, has_no_status = false;
  std::string ignored;
};

base::Error NoRunOcid() {
  return {Code::kInvalidArgument, "ValueError: Must provide a resource run OCID.", 0};
}

// The runs that the OCIDs name; for a job, those of its last start.
base::Result<std::vector<oci::JobRun>> FindRuns(oci::DataScience& jobs,
                                                const std::vector<std::string>& ocids) {
  std::vector<oci::JobRun> runs;
  for (const std::string& ocid : ocids) {
    const std::string_view kind = oci::KindOfOcid(ocid);
    if (kind == "datasciencejobrun") {
      TRY_ASSIGN(oci::JobRun run, jobs.GetJobRun(ocid));
      runs.push_back(std::move(run));
      continue;
    }
    if (kind != "datasciencejob") return Fail(NoRunOcid());
    TRY_ASSIGN(const text::Json job, jobs.GetJob(ocid));
    TRY_ASSIGN(auto of_job,
               jobs.ListJobRuns(ocid, std::string(text::GetString(job, {"compartmentId"}))));
    // The items of the list have no environment.
    std::vector<oci::JobRun> last;
    for (const oci::JobRun& one : of_job) {
      if (one.state == "DELETED") continue;
      TRY_ASSIGN(oci::JobRun run, jobs.GetJobRun(one.id));
      if (RoleOf(run) == "main") last.clear();
      last.push_back(std::move(run));
    }
    if (last.empty()) {
      return Fail(Code::kNotFound, fmt::format("the job {} has no runs to watch", ocid));
    }
    for (oci::JobRun& run : last) runs.push_back(std::move(run));
  }
  return runs;
}

// Oracle's `ads` ends with 0 however the runs ended.
bool HasStatus(const WatchFlags& flags, const std::string& program) {
  return !flags.has_no_status && (flags.has_status || program != "ads");
}

base::Result<int> RunWatchVerb(const Context& context, const WatchFlags& flags,
                               cli::Invocation& call) {
  for (const std::string& ocid : call.args) {
    const std::string_view kind = oci::KindOfOcid(ocid);
    if (kind != "datasciencejobrun" && kind != "datasciencejob") return Fail(NoRunOcid());
  }
  OciCloud cloud(context, flags.login);
  TRY_ASSIGN(oci::DataScience jobs, cloud.Jobs());
  TRY_ASSIGN(auto runs, FindRuns(jobs, call.args));
  std::string job;
  for (const oci::JobRun& run : runs) {
    if (run.job_id != job) TRY(call.out.Write(fmt::format("Job OCID: {}\n", run.job_id)));
    job = run.job_id;
    const std::string role = runs.size() > 1 ? fmt::format("[{}] ", RoleOf(run)) : "";
    TRY(call.out.Write(fmt::format("{}Job Run OCID: {}\n", role, run.id)));
  }
  CloudRuns source(cloud);
  RunWatch watch(
      source, std::move(runs),
      {std::chrono::seconds(flags.interval), std::chrono::seconds(flags.wait), context.pause},
      context.clock, call.out, call.err);
  TRY_ASSIGN(const int code, FollowWithHint(watch, context.program, call.args[0]));
  return HasStatus(flags, context.program) ? code : 0;
}

}  // namespace

void AddWatch(cli::Command& parent, Context& context) {
  cli::Command& verb = parent.Add("watch", "Follow the logs of job runs until they end.");
  verb.ClickArgs({"OCID..."}).WithoutShortHelp();
  verb.Help("ads/run/watch", context.program);
  auto flags = std::make_shared<WatchFlags>();
  cli::FlagSet& set = verb.flags();
  cli::ClickInt(set, &flags->interval, "interval", 3, "Seconds between two checks.");
  cli::ClickInt(set, &flags->wait, "wait", 90,
                "Seconds to wait for late log lines after the end of a run.");
  set.Bool(&flags->has_status, "exit-status", false,
           "Exit as the first run that failed. The default, except for the name ads.");
  set.Bool(&flags->has_no_status, "no-exit-status", false, "Exit with 0 however the runs ended.");
  set.String(&flags->ignored, "log-type", "", "Accepted for compatibility.").Hidden();
  set.String(&flags->ignored, "log-filter", "", "Accepted for compatibility.").Hidden();
  set.String(&flags->ignored, "conda-pack-folder", "", "Accepted for compatibility.").Hidden();
  DeclareLoginFlags(set, flags->login,
                    {"api_key", "resource_principal", "instance_principal", "security_token"});
  DeclareDebug(set);
  verb.Run(
      [&context, flags](cli::Invocation& call) { return RunWatchVerb(context, *flags, call); });
}

}  // namespace ads
