// cancel, delete, activate and deactivate, and the distributed-training group's cancel.
#include <fmt/format.h>

#include <memory>

#include "ads/run/ending.h"
#include "ads/run/info.h"
#include "ads/run/local_cancel.h"
#include "ads/storage/oci_cloud.h"
#include "ads/verbs.h"
#include "cli/click.h"

namespace ads {
namespace {

using base::Code;
using base::Fail;

struct CancelFlags {
  LoginFlags login;
  bool waits = false;
  int64_t max_wait = 1200, interval = 10;
  std::string ignored;
};

const std::vector<std::string>& EveryAuth() {
  static const std::vector<std::string> all = {"api_key", "resource_principal",
                                               "instance_principal", "security_token"};
  return all;
}

enum class OcidKind { kRun, kJob };
base::Result<OcidKind> KindOfResource(const std::string& ocid) {
  const std::string_view kind = oci::KindOfOcid(ocid);
  if (kind == "datasciencejobrun") return OcidKind::kRun;
  if (kind == "datasciencejob") return OcidKind::kJob;
  return Fail(Code::kInvalidArgument, "ValueError: Must provide a resource OCID.");
}

// If several fail, the first failure is reported, after everything was tried.
void Keep(base::Status& first, base::Status status) {
  if (first) first = std::move(status);
}

base::Status CancelRun(RunEnding& ending, const CancelFlags& flags, const std::string& ocid,
                       cli::Output& out) {
  TRY(ending.Cancel(ocid));
  if (!flags.waits) return {};
  const EndWait wait{std::chrono::seconds(flags.interval), std::chrono::seconds(flags.max_wait)};
  TRY_ASSIGN(const oci::JobRun run, ending.AwaitEnd(ocid, wait));
  return out.Write(run.state == "CANCELED"
                       ? fmt::format("Job run {} has been cancelled.\n", ocid)
                       : fmt::format("Job run {} has ended already: {}\n", ocid, run.state));
}

base::Status CancelJob(RunEnding& ending, const CancelFlags& flags, const std::string& ocid,
                       cli::Output& out) {
  TRY_ASSIGN(const auto runs, ending.RunsOf(ocid));
  const EndWait wait{std::chrono::seconds(flags.interval), std::chrono::seconds(flags.max_wait)};
  base::Status first;
  for (const oci::JobRun& run : runs) {
    if (!oci::IsTerminal(run.state)) Keep(first, ending.Cancel(run.id));
  }
  TRY(std::move(first));
  if (!flags.waits) return {};
  for (const oci::JobRun& run : runs) {
    if (!oci::IsTerminal(run.state)) TRY(ending.AwaitEnd(run.id, wait));
  }
  return out.Write(fmt::format("All job runs under {} have been cancelled.\n", ocid));
}

base::Result<int> RunCancel(const Context& context, const CancelFlags& flags,
                            cli::Invocation& call) {
  TRY_ASSIGN(const OcidKind kind, KindOfResource(call.args[0]));
  OciCloud cloud(context, flags.login);
  TRY_ASSIGN(oci::DataScience jobs, cloud.Jobs());
  RunEnding ending(jobs, context.clock, context.pause);
  TRY(kind == OcidKind::kRun ? CancelRun(ending, flags, call.args[0], call.out)
                             : CancelJob(ending, flags, call.args[0], call.out));
  return 0;
}

// Cancels all of them before waiting for one, because each costs money until it has ended.
base::Status CancelLive(RunEnding& ending, const std::vector<oci::JobRun>& runs, cli::Output& err) {
  base::Status first;
  size_t count = 0;
  for (const oci::JobRun& run : runs) {
    if (oci::IsTerminal(run.state)) continue;
    ++count;
    Keep(first, ending.Cancel(run.id));
  }
  TRY(std::move(first));
  if (count == 0) return {};
  return err.Write(
      fmt::format("Waiting until {} run{} ended\n", count, count == 1 ? " has" : "s have"));
}

base::Result<int> RunDelete(const Context& context, const LoginFlags& login,
                            cli::Invocation& call) {
  const std::string& ocid = call.args[0];
  TRY_ASSIGN(const OcidKind kind, KindOfResource(ocid));
  OciCloud cloud(context, login);
  TRY_ASSIGN(oci::DataScience jobs, cloud.Jobs());
  RunEnding ending(jobs, context.clock, context.pause);
  if (kind == OcidKind::kRun) {
    TRY_ASSIGN(const oci::JobRun run, jobs.GetJobRun(ocid));
    TRY(ending.Delete(run));
    TRY(call.out.Write(fmt::format("Job run {} has been deleted.\n", ocid)));
    return 0;
  }
  TRY_ASSIGN(const auto runs, ending.RunsOf(ocid));
  TRY(CancelLive(ending, runs, call.err));
  for (const oci::JobRun& run : runs) TRY(ending.Delete(run));
  TRY(jobs.DeleteJob(ocid));
  TRY(call.out.Write(fmt::format("Job {} has been deleted.\n", ocid)));
  return 0;
}

struct ClusterCancelFlags {
  LoginFlags login;
  std::string job_id, file;
};

base::Result<int> CancelRunsOf(const Context& context, const LoginFlags& login,
                               const std::string& job, cli::Output& out) {
  OciCloud cloud(context, login);
  TRY_ASSIGN(oci::DataScience jobs, cloud.Jobs());
  RunEnding ending(jobs, context.clock, context.pause);
  TRY_ASSIGN(const auto runs, ending.RunsOf(job));
  std::vector<std::string> cancelled;
  int code = 0;
  for (const oci::JobRun& run : runs) {
    if (oci::IsTerminal(run.state)) continue;
    TRY(out.Write(fmt::format("Cancelling Job Run: {}\n", run.id)));
    if (const auto status = ending.Cancel(run.id); !status) {
      TRY(out.Write(fmt::format("Error cancelling: {}\n", status.error().message)));
      code = cli::kExitFailure;
    } else {
      cancelled.push_back(run.id);
    }
  }
  for (const std::string& id : cancelled) {
    TRY(ending.AwaitEnd(id, {std::chrono::seconds(3), EndWait().limit}));
  }
  if (runs.empty()) {
    TRY(out.Write(fmt::format("No Job runs found for : {}\n", job)));
  } else if (cancelled.empty() && code == 0) {
    TRY(out.Write(fmt::format("All job runs of {} have ended already\n", job)));
  }
  return code;
}

base::Result<int> RunClusterCancel(const Context& context, const ClusterCancelFlags& flags,
                                   cli::Invocation& call) {
  std::string job = flags.job_id;
  if (!flags.file.empty()) {
    TRY_ASSIGN(const RunInfoFile info,
               ReadRunInfoFile(ExpandHome(flags.file, context.environment)));
    job = info.job_id;
  }
  if (job.empty()) {
    TRY(call.out.Write("Either job ocid or yaml file with `jobId` key is required\n"));
    return 0;
  }
  if (IsLocalTraining(context, job)) return CancelLocalTraining(context, job, call.out);
  if (!job.starts_with("ocid")) {
    return Fail(
        Code::kInvalidArgument,
        fmt::format("ValueError: {0} is not an OCID, and no job that `run -b local` started "
                    "here; one of `-b kubernetes` ends by `muster delete {0}`",
                    job));
  }
  return CancelRunsOf(context, flags.login, job, call.out);
}

void DeclareCancelFlags(cli::FlagSet& set, CancelFlags& flags) {
  set.Bool(&flags.waits, "wait-for-completion", false, "Wait until the runs have ended.");
  cli::ClickInt(set, &flags.max_wait, "max-wait-time", 1200, "The most seconds to wait.");
  cli::ClickInt(set, &flags.interval, "poll-interval", 10, "Seconds between two checks.");
  set.String(&flags.ignored, "conda-pack-folder", "", "Accepted for compatibility.").Hidden();
  DeclareLoginFlags(set, flags.login, EveryAuth());
  DeclareDebug(set);
}

void AddModelVerb(cli::Command& parent, const std::string& name) {
  cli::Command& verb = parent.Add(name, "For model deployments; not for jobs.");
  verb.ClickArgs({"OCID"}).WithoutShortHelp().Hidden();
  auto flags = std::make_shared<CancelFlags>();
  DeclareCancelFlags(verb.flags(), *flags);
  verb.Run([name, flags](cli::Invocation&) -> base::Result<int> {
    return Fail(Code::kInvalidArgument,
                fmt::format("NotImplementedError: `{}` has not been implemented yet.", name));
  });
}

}  // namespace

void AddCancel(cli::Command& parent, Context& context) {
  cli::Command& verb = parent.Add("cancel", "Cancel a job run, or all runs of a job.");
  verb.ClickArgs({"OCID"}).WithoutShortHelp().Help("ads/run/cancel", context.program);
  auto flags = std::make_shared<CancelFlags>();
  DeclareCancelFlags(verb.flags(), *flags);
  verb.Run([&context, flags](cli::Invocation& call) { return RunCancel(context, *flags, call); });
}

void AddDelete(cli::Command& parent, Context& context) {
  cli::Command& verb = parent.Add("delete", "Delete a job run, or a job and its runs.");
  verb.ClickArgs({"OCID"}).WithoutShortHelp().Help("ads/run/delete", context.program);
  auto flags = std::make_shared<CancelFlags>();
  DeclareLoginFlags(verb.flags(), flags->login, EveryAuth());
  DeclareDebug(verb.flags());
  verb.Run(
      [&context, flags](cli::Invocation& call) { return RunDelete(context, flags->login, call); });
}

void AddModelVerbs(cli::Command& parent) {
  AddModelVerb(parent, "activate");
  AddModelVerb(parent, "deactivate");
}

void AddClusterCancel(cli::Command& parent, Context& context) {
  cli::Command& verb = parent.Add("cancel", "Terminate the running cluster.");
  verb.WithoutShortHelp();
  verb.Help("ads/run/cluster_cancel", context.program);
  auto flags = std::make_shared<ClusterCancelFlags>();
  cli::FlagSet& set = verb.flags();
  set.String(&flags->job_id, "job-id", "", "Job OCID of the cluster.").Short('j');
  set.String(&flags->file, "file", "", "YAML file with the cluster's run information.").Short('f');
  DeclareLoginFlags(set, flags->login, EveryAuth());
  DeclareDebug(set);
  verb.Run(
      [&context, flags](cli::Invocation& call) { return RunClusterCancel(context, *flags, call); });
}

}  // namespace ads
