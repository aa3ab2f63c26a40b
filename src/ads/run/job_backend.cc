#include "ads/run/job_backend.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "ads/config/job_spec.h"
#include "ads/interrupts.h"
#include "ads/oci/log_search.h"
#include "ads/oci/service_error.h"
#include "ads/run/dry_run.h"
#include "ads/run/info.h"
#include "ads/run/starter.h"
#include "ads/storage/oci_cloud.h"
#include "base/strings.h"

namespace ads {
namespace {

using base::Code;
using base::Fail;

RunInfo InfoOf(std::string job_id, const std::vector<oci::JobRun>& runs,
               std::optional<std::string> work_dir) {
  RunInfo info{std::move(job_id), {}, {}, std::move(work_dir)};
  if (!runs.empty()) info.main = {runs[0].name, runs[0].id};
  for (size_t i = 1; i < runs.size(); ++i) info.others.emplace_back(runs[i].name, runs[i].id);
  return info;
}

class JobBackend final : public Backend {
 public:
  JobBackend(const Context& context, const LoginFlags& login)
      : context_(context), cloud_(context, login) {}

  base::Status SignIn() { return cloud_.SignIn(); }
  base::Result<int> Run(const RunRequest& request, cli::Output& out, cli::Output& err) override;

 private:
  base::Status FindLogGroup(const Placement& placement, JobSpec& job);

  const Context& context_;
  OciCloud cloud_;
};

// Finds the log group when only logId is set, because the service requires the group, too.
base::Status JobBackend::FindLogGroup(const Placement& placement, JobSpec& job) {
  const auto get = [&](std::string_view key) {
    const PyValue* const value = job.infrastructure.Find(key);
    return value == nullptr || value->is_none() ? "" : PyStr(*value);
  };
  const std::string log = get("logId");
  if (log.empty() || !get("logGroupId").empty()) return {};
  TRY_ASSIGN(oci::Api* const management, cloud_.At(oci::Service::kLogManagement));
  TRY_ASSIGN(std::string group, oci::GroupOfLog(*management, placement.compartment_id, log));
  job.infrastructure.Set("logGroupId", PyValue::String(std::move(group)));
  return {};
}

// Reports runs that now continue by themselves whatever happens to this program, even if an error
// follows.
base::Result<int> ReportStart(const RunInfo& info, const Context& context,
                              const std::string& job_info, Interrupts& interrupts, cli::Output& out,
                              cli::Output& talk) {
  const std::string text = RenderRunInfo(info, context.program);
  base::Status written = out.Write(text);
  base::Status saved = job_info.empty() ? base::Status() : SaveRunInfo(job_info, text, talk);
  if (written) written = std::move(saved);
  if (written && !interrupts.HasCome()) return 0;
  base::Error why = written ? base::Error{Code::kCancelled, "interrupted", 0} : written.error();
  why.message +=
      fmt::format("; the job {0} has been started and runs: `{1} opctl cancel {0}` ends it",
                  info.job_id, context.program);
  return Fail(std::move(why));
}

base::Result<int> JobBackend::Run(const RunRequest& request, cli::Output& out, cli::Output& err) {
  JobSpec job = request.job;
  TRY_ASSIGN(const Placement placement, CheckPlacement(job, context_.environment));
  TRY_ASSIGN(oci::DataScience jobs, cloud_.Jobs());
  TRY(FindLogGroup(placement, job));
  TRY_ASSIGN(const auto interrupts, Interrupts::Catch(*context_.breaker));
  TRY_ASSIGN(const StartedRuns started,
             StartNewJob(context_, jobs, job, placement, *interrupts, err));
  return ReportStart(InfoOf(started.job_id, started.runs, job.work_dir), context_, request.job_info,
                     *interrupts, out, request.is_quiet ? err : out);
}

// Posts a job's body and returns its OCID. The error says so if the job may have been created.
base::Result<std::string> CreateNewJob(oci::DataScience& jobs, const text::Json& body,
                                       Interrupts& interrupts) {
  auto made = jobs.CreateJob(body);
  if (made) return std::string(text::GetString(*made, {"id"}));
  base::Error why = std::move(made.error());
  const bool may_be_done = oci::MayBeDone(why);
  if (interrupts.HasCome()) why = {Code::kCancelled, "interrupted", 0};
  if (may_be_done) {
    why.message += fmt::format(
        "; whether the job {} was created is not known: it has no runs, and costs "
        "nothing",
        text::GetString(body, {"displayName"}));
  }
  return Fail(std::move(why));
}

std::string EnvOf(const text::Json& environment, std::string_view name) {
  const text::Json* const value = text::Find(environment, {name});
  if (value == nullptr || !value->is_string()) return "";
  return std::string(text::GetString(environment, {name}));
}

// Identifies a run's place in the cluster: "MAIN", "WORKER 2", "PS 0".
std::string SeatOf(const std::string& mode, int64_t index) {
  return mode == "MAIN" ? mode : fmt::format("{} {}", mode, index);
}

// The latest run of each of `count` places. The items of a list have no environment, so the runs
// are read, the newest first. Parameter servers have no rank: their names end with an index.
base::Result<std::map<std::string, oci::JobRun>> LastRuns(oci::DataScience& jobs,
                                                          const std::vector<oci::JobRun>& listed,
                                                          size_t count) {
  std::map<std::string, oci::JobRun> last;
  for (auto at = listed.rbegin(); at != listed.rend() && last.size() < count; ++at) {
    auto run = jobs.GetJobRun(at->id);
    if (!run && run.error().code == Code::kNotFound) continue;  // a deleted one
    if (!run) return Fail(std::move(run.error()));
    const std::string mode = EnvOf(run->environment, "OCI__MODE");
    if (mode.empty()) continue;
    const auto rank = base::ParseInt(EnvOf(run->environment, "RANK"));
    const auto index = base::ParseInt(run->name.substr(run->name.rfind('_') + 1));
    last.try_emplace(SeatOf(mode, rank.value_or(index.value_or(0))), std::move(*run));
  }
  return last;
}

JobRunSpec SeatSpec(const std::map<std::string, oci::JobRun>& last, const std::string& mode,
                    int64_t index, const std::string& fallback_name) {
  JobRunSpec spec;
  spec.name = fallback_name;
  if (const auto found = last.find(SeatOf(mode, index)); found != last.end()) {
    spec.name = found->second.name;
    if (const text::Object* const before = found->second.environment.if_object()) {
      for (const auto& member : *before) {
        spec.env.Set(std::string(member.key()), EnvOf(found->second.environment, member.key()));
      }
    }
  }
  spec.env.Set("OCI__MODE", mode);
  if (mode != "PS") spec.env.Set("RANK", std::to_string(index));
  return spec;
}

base::Result<std::vector<JobRunSpec>> ClusterRuns(oci::DataScience& jobs, const text::Json& job_env,
                                                  const std::vector<oci::JobRun>& before) {
  const auto count = [&](std::string_view name) {
    return std::max<int64_t>(base::ParseInt(EnvOf(job_env, name)).value_or(0), 0);
  };
  const auto places = static_cast<size_t>(1 + count("OCI__WORKER_COUNT") + count("OCI__PS_COUNT"));
  TRY_ASSIGN(const auto last, LastRuns(jobs, before, places));
  std::vector<JobRunSpec> runs = {SeatSpec(last, "MAIN", 0, "main")};
  for (int64_t i = 0; i < count("OCI__WORKER_COUNT"); ++i) {
    runs.push_back(SeatSpec(last, "WORKER", i + 1, fmt::format("worker_{}", i)));
  }
  for (int64_t i = 0; i < count("OCI__PS_COUNT"); ++i) {
    runs.push_back(SeatSpec(last, "PS", i, fmt::format("ps_{}", i)));
  }
  return runs;
}

}  // namespace

base::Result<StartedRuns> StartNewJob(const Context& context, oci::DataScience& jobs,
                                      const JobSpec& job, const Placement& placement,
                                      Interrupts& interrupts, cli::Output& err) {
  TRY_ASSIGN(const text::Json body,
             CreateJobBody(job, placement, SentName(job).value_or(RandomJobName(context.clock))));
  StartedRuns started;
  TRY_ASSIGN(started.job_id, CreateNewJob(jobs, body, interrupts));
  std::vector<text::Json> bodies;
  for (const JobRunSpec& run : job.runs) {
    bodies.push_back(CreateJobRunBody(job, run, placement, started.job_id));
  }
  RunStarter starter(jobs, {started.job_id, placement.compartment_id},
                     {context.clock, context.pause, interrupts, context.program, err});
  TRY_ASSIGN(started.runs, starter.Start(bodies));
  return started;
}

base::Result<std::unique_ptr<Backend>> MakeJobBackend(const Context& context,
                                                      const LoginFlags& login) {
  auto backend = std::make_unique<JobBackend>(context, login);
  TRY(backend->SignIn());
  return std::unique_ptr<Backend>(std::move(backend));
}

base::Result<int> RunExistingJob(const Context& context, const ExistingJobRequest& request,
                                 cli::Output& out, cli::Output& err) {
  const std::string& job_ocid = request.job_ocid;
  if (oci::KindOfOcid(job_ocid) != "datasciencejob") {
    return Fail(Code::kInvalidArgument,
                fmt::format("ValueError: --ocid {}: it is not an OCID of a job "
                            "(ocid1.datasciencejob...)",
                            job_ocid));
  }
  OciCloud cloud(context, request.login);
  TRY_ASSIGN(oci::DataScience jobs, cloud.Jobs());
  TRY_ASSIGN(const text::Json job, jobs.GetJob(job_ocid));
  const Placement placement{std::string(text::GetString(job, {"projectId"})),
                            std::string(text::GetString(job, {"compartmentId"}))};
  const text::Json* const found =
      text::Find(job, {"jobConfigurationDetails", "environmentVariables"});
  const text::Json job_env = found != nullptr ? *found : text::Json(nullptr);
  const bool is_cluster = !EnvOf(job_env, "OCI__CLUSTER_TYPE").empty();
  std::vector<JobRunSpec> specs(1);
  specs[0].name = std::string(text::GetString(job, {"displayName"}));
  TRY_ASSIGN(auto before, jobs.ListJobRuns(job_ocid, placement.compartment_id));
  if (is_cluster) {
    TRY_ASSIGN(specs, ClusterRuns(jobs, job_env, before));
  }
  if (request.is_dry) {
    TRY(out.Write(RenderDryRunOf(job_ocid, specs)));
    return 0;
  }
  const auto live = std::count_if(before.begin(), before.end(), [](const oci::JobRun& run) {
    return !oci::IsTerminal(run.state);
  });
  if (live > 0) {
    TRY(err.Write(
        fmt::format("WARNING:ads.opctl:{} run(s) of {} have not ended, and share its work "
                    "dir with the new ones: `{} opctl cancel {}` ends them all\n",
                    live, job_ocid, context.program, job_ocid)));
  }
  std::vector<text::Json> bodies;
  for (const JobRunSpec& run : specs) {
    bodies.push_back(CreateJobRunBody(JobSpec(), run, placement, job_ocid));
  }
  TRY_ASSIGN(const auto interrupts, Interrupts::Catch(*context.breaker));
  RunStarter starter(jobs, {job_ocid, placement.compartment_id, false, std::move(before)},
                     {context.clock, context.pause, *interrupts, context.program, err});
  TRY_ASSIGN(const auto runs, starter.Start(bodies));
  const std::string work_dir = EnvOf(job_env, "OCI__WORK_DIR");
  return ReportStart(
      InfoOf(job_ocid, runs, work_dir.empty() ? std::nullopt : std::optional(work_dir)), context,
      request.job_info, *interrupts, out, request.is_quiet ? err : out);
}

}  // namespace ads
