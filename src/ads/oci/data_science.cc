#include "ads/oci/data_science.h"

#include <fmt/format.h>

#include <algorithm>

namespace ads::oci {
namespace {

constexpr const char* kVersionPath = "/20190101";

std::string JobPath(const std::string& id) {
  return fmt::format("{}/jobs/{}", kVersionPath, net::PercentEncode(id));
}
std::string RunPath(const std::string& id) {
  return fmt::format("{}/jobRuns/{}", kVersionPath, net::PercentEncode(id));
}

std::optional<base::Time> TimeAt(const text::Json& value, std::string_view key) {
  const auto time = base::ParseRfc3339(text::GetString(value, {key}));
  return time ? std::optional(*time) : std::nullopt;
}

// An answer that is JSON but not the expected object, for example of a proxy or a sign-in page.
base::Error NoSuchAnswer(const char* operation, const char* what) {
  return {base::Code::kUnavailable,
          fmt::format("{} of data_science: the answer is not {}: is there a proxy that answers?",
                      operation, what),
          0};
}

}  // namespace

JobRun ReadJobRun(const text::Json& value) {
  const auto get = [&](text::Path path) { return std::string(text::GetString(value, path)); };
  JobRun run;
  run.id = get({"id"});
  run.job_id = get({"jobId"});
  run.name = get({"displayName"});
  run.compartment_id = get({"compartmentId"});
  run.project_id = get({"projectId"});
  run.state = get({"lifecycleState"});
  run.details = get({"lifecycleDetails"});
  run.accepted = TimeAt(value, "timeAccepted");
  run.started = TimeAt(value, "timeStarted");
  run.finished = TimeAt(value, "timeFinished");
  run.log_id = get({"logDetails", "logId"});
  run.log_group_id = get({"logDetails", "logGroupId"});
  const text::Json* const environment =
      text::Find(value, {"jobConfigurationOverrideDetails", "environmentVariables"});
  if (environment != nullptr) run.environment = *environment;
  return run;
}

bool IsTerminal(std::string_view state) {
  return state == "SUCCEEDED" || state == "FAILED" || state == "CANCELED" || state == "DELETED";
}

std::string_view KindOfOcid(std::string_view ocid) {
  const size_t first = ocid.find('.');
  if (first == std::string_view::npos || !ocid.starts_with("oci")) return "";
  const size_t second = ocid.find('.', first + 1);
  return second == std::string_view::npos ? "" : ocid.substr(first + 1, second - first - 1);
}

DataScience DataScience::Once() const {
  DataScience once = *this;
  once.is_repeating_ = false;
  return once;
}

ApiRequest DataScience::Bare(const char* operation, const char* method, std::string target) const {
  return {.operation = operation,
          .method = method,
          .target = std::move(target),
          .is_repeated = is_repeating_};
}

base::Result<text::Json> DataScience::Create(const char* operation, const char* target,
                                             const text::Json& body) {
  TRY_ASSIGN(text::Json made, api_.Ask({.operation = operation,
                                        .method = "POST",
                                        .target = fmt::format("{}{}", kVersionPath, target),
                                        .body = text::ToJson(body),
                                        .is_create = true,
                                        .is_repeated = is_repeating_}));
  if (text::GetString(made, {"id"}).empty()) return base::Fail(NoSuchAnswer(operation, "an OCID"));
  return made;
}

base::Result<text::Json> DataScience::CreateJob(const text::Json& body) {
  return Create("create_job", "/jobs", body);
}

base::Result<JobRun> DataScience::CreateJobRun(const text::Json& body) {
  TRY_ASSIGN(const text::Json made, Create("create_job_run", "/jobRuns", body));
  JobRun run = ReadJobRun(made);
  if (run.name.empty()) run.name = text::GetString(body, {"displayName"});
  return run;
}

base::Result<text::Json> DataScience::GetJob(const std::string& id) {
  return api_.Ask(Bare("get_job", "GET", JobPath(id)));
}

base::Result<JobRun> DataScience::GetJobRun(const std::string& id) {
  constexpr const char* kOperation = "get_job_run";
  TRY_ASSIGN(const text::Json run, api_.Ask(Bare(kOperation, "GET", RunPath(id))));
  if (text::GetString(run, {"lifecycleState"}).empty()) {
    return base::Fail(NoSuchAnswer(kOperation, "a job run"));
  }
  return ReadJobRun(run);
}

base::Result<std::vector<JobRun>> DataScience::ListJobRuns(const std::string& job_id,
                                                           const std::string& compartment_id) {
  TRY_ASSIGN(
      const text::Array items,
      api_.List(Bare("list_job_runs", "GET",
                     fmt::format("{}/jobRuns?jobId={}&compartmentId={}", kVersionPath,
                                 net::PercentEncode(job_id), net::PercentEncode(compartment_id)))));
  std::vector<JobRun> runs;
  for (const text::Json& item : items) runs.push_back(ReadJobRun(item));
  std::stable_sort(runs.begin(), runs.end(), [](const JobRun& a, const JobRun& b) {
    return a.accepted.value_or(base::Time::max()) < b.accepted.value_or(base::Time::max());
  });
  return runs;
}

base::Status DataScience::CancelJobRun(const std::string& id) {
  TRY(api_.Send(Bare("cancel_job_run", "POST", RunPath(id) + "/actions/cancelJobRun")));
  return {};
}

base::Status DataScience::DeleteJobRun(const std::string& id) {
  TRY(api_.Send(Bare("delete_job_run", "DELETE", RunPath(id))));
  return {};
}

base::Status DataScience::DeleteJob(const std::string& id) {
  TRY(api_.Send(Bare("delete_job", "DELETE", JobPath(id))));
  return {};
}

}  // namespace ads::oci
