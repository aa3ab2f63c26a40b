#include "ads/job_backend.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "ads/job_spec.h"
#include "ads/oci/log_search.h"
#include "ads/oci_cloud.h"
#include "ads/run_info.h"
#include "ads/run_starter.h"
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
  explicit JobBackend(const Context& context) : context_(context) {}

  base::Result<int> Run(const RunRequest& request, cli::Output& out, cli::Output& err) override;

 private:
  base::Status FindLogGroup(OciCloud& cloud, const Placement& placement, JobSpec& job) const;

  const Context& context_;
};

// logId alone: the service wants the group with it.
base::Status JobBackend::FindLogGroup(OciCloud& cloud, const Placement& placement,
                                      JobSpec& job) const {
  const auto get = [&](std::string_view key) {
    const PyValue* const value = job.infrastructure.Find(key);
    return value == nullptr || value->is_none() ? "" : PyStr(*value);
  };
  const std::string log = get("logId");
  if (log.empty() || !get("logGroupId").empty()) return {};
  TRY_ASSIGN(oci::Api* const management, cloud.At(oci::Service::kLogManagement));
  TRY_ASSIGN(std::string group, oci::GroupOfLog(*management, placement.compartment_id, log));
  job.infrastructure.Set("logGroupId", PyValue::String(std::move(group)));
  return {};
}

base::Result<int> JobBackend::Run(const RunRequest& request, cli::Output& out, cli::Output& err) {
  JobSpec job = request.job;
  TRY_ASSIGN(const Placement placement, CheckPlacement(job, context_.environment));
  OciCloud cloud(context_, request.login);
  TRY_ASSIGN(oci::DataScience jobs, cloud.Jobs());
  TRY(FindLogGroup(cloud, placement, job));
  TRY_ASSIGN(const text::Json body,
             CreateJobBody(job, placement, job.name ? *job.name : RandomJobName(context_.clock)));
  TRY_ASSIGN(const text::Json made, jobs.CreateJob(body));
  const std::string job_id(text::GetString(made, {"id"}));
  std::vector<text::Json> bodies;
  for (const JobRunSpec& run : job.runs) {
    bodies.push_back(CreateJobRunBody(job, run, placement, job_id));
  }
  RunStarter starter(jobs, job_id, placement.compartment_id, {}, err);
  auto runs = starter.Start(bodies);
  if (!runs) {
    // A job without runs would only be in the way.
    if (starter.count() == 0) (void)jobs.DeleteJob(job_id);
    return Fail(std::move(runs.error()));
  }
  const std::string text = RenderRunInfo(InfoOf(job_id, *runs, job.work_dir), context_.program);
  TRY(out.Write(text));
  if (request.job_info.empty()) return 0;
  TRY_ASSIGN(const bool may_write, MayOverwrite(request.job_info, request.is_answer_yes, out));
  if (may_write) TRY(SaveRunInfo(request.job_info, text, out));
  return 0;
}

std::string EnvOf(const text::Json& environment, std::string_view name) {
  const text::Json* const value = text::Find(environment, {name});
  if (value == nullptr || !value->is_string()) return "";
  return std::string(text::GetString(environment, {name}));
}

// What is one run's place in the cluster: "MAIN", "WORKER 2", "PS 0".
std::string SeatOf(const std::string& mode, int64_t index) {
  return mode == "MAIN" ? mode : fmt::format("{} {}", mode, index);
}

// The newest run of each place. Parameter servers have no rank: their names end with an index.
std::map<std::string, oci::JobRun> LastRuns(const std::vector<oci::JobRun>& runs) {
  std::map<std::string, oci::JobRun> last;
  for (const oci::JobRun& run : runs) {  // oldest first
    const std::string mode = EnvOf(run.environment, "OCI__MODE");
    if (mode.empty()) continue;
    const auto rank = base::ParseInt(EnvOf(run.environment, "RANK"));
    const auto index = base::ParseInt(run.name.substr(run.name.rfind('_') + 1));
    last[SeatOf(mode, rank.value_or(index.value_or(0)))] = run;
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

std::vector<JobRunSpec> ClusterRuns(const text::Json& job_env,
                                    const std::vector<oci::JobRun>& before) {
  const auto last = LastRuns(before);
  const auto count = [&](std::string_view name) {
    return base::ParseInt(EnvOf(job_env, name)).value_or(0);
  };
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

std::unique_ptr<Backend> MakeJobBackend(const Context& context) {
  return std::make_unique<JobBackend>(context);
}

base::Result<int> RunExistingJob(const Context& context, const std::string& job_ocid,
                                 const LoginFlags& login, cli::Output& out, cli::Output& err) {
  if (oci::KindOfOcid(job_ocid) != "datasciencejob") {
    return Fail(Code::kInvalidArgument, fmt::format("ValueError: --ocid {}: it is no OCID of a job "
                                                    "(ocid1.datasciencejob...)",
                                                    job_ocid));
  }
  OciCloud cloud(context, login);
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
  if (is_cluster) specs = ClusterRuns(job_env, before);
  std::vector<text::Json> bodies;
  for (const JobRunSpec& run : specs) {
    bodies.push_back(CreateJobRunBody(JobSpec(), run, placement, job_ocid));
  }
  RunStarter starter(jobs, job_ocid, placement.compartment_id, std::move(before), err);
  TRY_ASSIGN(const auto runs, starter.Start(bodies));
  const std::string work_dir = EnvOf(job_env, "OCI__WORK_DIR");
  TRY(out.Write(RenderRunInfo(
      InfoOf(job_ocid, runs, work_dir.empty() ? std::nullopt : std::optional(work_dir)),
      context.program)));
  return 0;
}

}  // namespace ads
