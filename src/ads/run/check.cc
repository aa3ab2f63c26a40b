// `check` and, in the container of the run that it starts, `diagnose` (compat/opctl.md 1.4).
#include <fmt/format.h>
#include <unistd.h>

#include <memory>

#include "ads/config/image_config.h"
#include "ads/config/train_file.h"
#include "ads/config/user_file.h"
#include "ads/diagnosis.h"
#include "ads/interrupts.h"
#include "ads/run/cloud_runs.h"
#include "ads/run/dry_run.h"
#include "ads/run/images/image_steps.h"
#include "ads/run/info.h"
#include "ads/run/job_backend.h"
#include "ads/run/starter.h"
#include "ads/verbs.h"
#include "base/file.h"
#include "base/strings.h"
#include "cli/click.h"

namespace ads {
namespace {

using base::Code;
using base::Fail;

// In oracle-ads' images, and in those of `init`.
constexpr const char* kDiagnosticsCommand = "python -m ads.opctl.diagnostics -t distributed";
constexpr const char* kReport = "diagnostic_report.html";

struct CheckFlags {
  std::string file, output, job_name;
  LoginFlags login;
  int64_t interval = 3, wait = 90;
  bool is_dry = false, is_not_strict = false;
  std::vector<std::string> ignored;
};

base::Result<std::string> ImageOf(const TrainConfig& config) {
  if (!config.image.starts_with('@')) return config.image;
  const auto text = base::ReadFile(kImageIniPath);
  if (!text) {
    return Fail(Code::kInvalidArgument,
                fmt::format("ValueError: Invalid image name: {} and also not able to locate "
                            "config.ini file. Please update image name in Job config.",
                            config.image));
  }
  TRY_ASSIGN(const IniFile file, IniFile::Parse(*text, kImageIniPath));
  return ReadImageConfig(file).Image();
}

// Fetches the report, which exists however the run has ended.
base::Status SaveReport(OciCloud& cloud, const std::string& work_dir, const std::string& job_id,
                        const std::string& path, cli::Output& out) {
  TRY_ASSIGN(const auto storage,
             cloud.OpenStorage(work_dir + (work_dir.ends_with('/') ? "" : "/") + job_id));
  TRY_ASSIGN(const std::string report, storage->Get(kReport));
  TRY(WriteUserFile(path, report));
  return out.Write(fmt::format("Report saved to {}\n", path));
}

base::Result<int> RunCheckJob(const Context& context, const CheckFlags& flags, const JobSpec& job,
                              cli::Invocation& call) {
  const std::string path = ShownTrainFile(flags.file);
  TRY(CheckReferences(job.env, path));
  TRY_ASSIGN(const Placement placement, CheckPlacement(job, context.environment));
  if (!job.work_dir || !IsOciUri(*job.work_dir)) {
    return Fail(Code::kInvalidArgument,
                fmt::format("ValueError: {}: spec.cluster.spec.workDir has to be "
                            "oci://bucket@namespace/prefix",
                            path));
  }
  TRY(CheckWritable(flags.output, "--output"));
  OciCloud cloud(context, flags.login);
  TRY_ASSIGN(oci::DataScience jobs, cloud.Jobs());
  JobSpec alone = job;
  alone.runs.resize(1);
  StartedRuns started;
  {
    TRY_ASSIGN(const auto interrupts, Interrupts::Catch(*context.breaker));
    TRY_ASSIGN(started, StartNewJob(context, jobs, alone, placement, *interrupts, call.err));
  }
  const std::string& job_id = started.job_id;
  TRY(call.out.Write(fmt::format("Job OCID: {}\nJob Run OCID: {}\n", job_id, started.runs[0].id)));
  CloudRuns source(cloud);
  RunWatch watch(
      source, std::move(started.runs),
      {std::chrono::seconds(flags.interval), std::chrono::seconds(flags.wait), context.pause},
      context.clock, call.out, call.err);
  TRY_ASSIGN(const int code, FollowWithHint(watch, context.program, job_id));
  TRY(SaveReport(cloud, *job.work_dir, job_id, flags.output, call.out));
  return code;
}

base::Result<int> RunCheck(const Context& context, const CheckFlags& flags, cli::Invocation& call) {
  if (flags.file.empty()) {
    return Fail(Code::kInvalidArgument, "ValueError: name the YAML file: check -f train.yaml");
  }
  const auto document = ReadTrainFile(flags.file, context, flags.login);
  if (!document && document.error().code == Code::kNotFound && !IsOciUri(flags.file)) {
    return Fail(Code::kNotFound, fmt::format("FileNotFoundError: {} is not found", flags.file));
  }
  if (!document) return Fail(document.error());
  if (const std::string kind = KindOf(*document); kind != "distributed") {
    TRY(call.out.Write(fmt::format("Diagnostics not available for kind: {}\n", kind)));
    return 0;
  }
  TRY_ASSIGN(const TrainConfig config,
             ReadTrainConfig(*document, ShownTrainFile(flags.file), {!flags.is_not_strict}));
  for (const std::string& warning : config.warnings) TRY(call.err.Write(warning + "\n"));
  TRY_ASSIGN(const std::string image, ImageOf(config));
  JobSpec job = MakeJobSpec(config, image, flags.job_name);
  job.entrypoint = {"/bin/bash", "--login", "-c"};
  job.command = kDiagnosticsCommand;
  if (flags.is_dry) {
    TRY(call.out.Write(RenderDryRun(job, kCheckDryRun)));
    return 0;
  }
  TRY(CheckPlaceholders(config, context.environment));
  return RunCheckJob(context, flags, job, call);
}

base::Result<int> RunDiagnose(const Context& context, cli::Invocation& call) {
  OciCloud cloud(context, {});
  TRY_ASSIGN(const auto findings, Diagnose(cloud, context.environment));
  const std::string type = base::ToLower(context.environment.GetOr("OCI__CLUSTER_TYPE", "pytorch"));
  TRY(call.out.Write(RenderFindings(findings, type)));
  for (const Finding& one : findings) {
    if (!one.is_met) return cli::kExitFailure;
  }
  return 0;
}

}  // namespace

void AddCheck(cli::Command& parent, Context& context) {
  cli::Command& verb = parent.Add("check", "Check whether the tenancy has what a YAML file needs.");
  verb.Help("ads/run/check", context.program);
  auto flags = std::make_shared<CheckFlags>();
  cli::FlagSet& set = verb.flags();
  set.String(&flags->file, "file", "", "The YAML file.").Short('f');
  set.Bool(&flags->is_dry, "dry-run", false, "Print what would be created.").Short('r');
  set.String(&flags->output, "output", kReport, "File to save the report in.");
  set.String(&flags->job_name, "job-name", "", "Name of the job, where the YAML has none.");
  set.Bool(&flags->is_not_strict, "no-strict", false, "Ignore unknown keys in the YAML.");
  cli::ClickInt(set, &flags->interval, "interval", 3, "Seconds between two checks.");
  cli::ClickInt(set, &flags->wait, "wait", 90,
                "Seconds to wait for late log lines after the end of the run.");
  for (const auto& [name, shorthand] :
       {std::pair("operator-name", 'n'), std::pair("backend", 'b')}) {
    set.StringArray(&flags->ignored, name, "Accepted for compatibility.").Short(shorthand).Hidden();
  }
  for (const char* name : {"conf-file", "conf-profile", "conda-pack-folder"}) {
    set.StringArray(&flags->ignored, name, "Accepted for compatibility.").Hidden();
  }
  DeclareLoginFlags(set, flags->login, {"api_key", "resource_principal", "security_token"});
  DeclareDebug(set);
  verb.Run([&context, flags](cli::Invocation& call) {
    return ExitOrInterrupted(RunCheck(context, *flags, call), call.err);
  });

  cli::Command& diagnose = parent.Add("diagnose", "The looks of `check`, in a job run.");
  diagnose.Hidden();
  auto ignored = std::make_shared<std::string>();
  diagnose.flags().String(ignored.get(), "type", "distributed", "What is looked at.").Short('t');
  diagnose.Run([&context, ignored](cli::Invocation& call) { return RunDiagnose(context, call); });
}

}  // namespace ads
