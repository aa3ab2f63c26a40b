#include "arena/listing/records.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "api/job/pytorch_job.h"
#include "api/names.h"
#include "api/object.h"
#include "arena/app/ownership.h"
#include "arena/listing/seen_runs.h"
#include "base/strings.h"
#include "net/http/types.h"

namespace arena {
namespace {

using base::Code;
using base::Fail;

constexpr size_t kIdLength = 8;
constexpr size_t kLeastIdLength = 4;
constexpr const char* kRecordsPath = "/muster/records";

bool IsIdPrefix(std::string_view text) {
  return text.size() >= kLeastIdLength &&
         text.find_first_not_of("0123456789abcdef-") == std::string_view::npos;
}

struct Remembered {
  std::vector<std::pair<text::Json, base::Time>> objects;  // and when each was deleted
  int64_t total = 0;
};

// Whether the job still exists; true if that cannot be found out.
bool IsStanding(cluster::Client& client, const SeenRun& run) {
  const auto found = client.Get(api::kPyTorchJobs, api::Namespace(run.job), api::Name(run.job));
  if (!found) return found.error().code != Code::kNotFound;
  return api::Uid(*found) == api::Uid(run.job);
}

bool Fits(const SeenRun& run, std::string_view name, std::string_view id) {
  return (name.empty() || api::Name(run.job) == name) &&
         (id.empty() || api::Uid(run.job).starts_with(id));
}

// For a cluster that remembers nothing itself: what this machine saw there and is gone.
base::Result<Remembered> AskMemory(cluster::Client& client, const Context& context,
                                   const std::map<std::string, std::string>& query) {
  const auto value = [&query](const char* name) {
    const auto found = query.find(name);
    return found == query.end() ? std::string() : found->second;
  };
  Remembered answer;
  const SeenRuns seen(context);
  if (const std::string uid = value("run"); !uid.empty()) {
    // The pods of a job that still exists are known to the cluster.
    auto run = seen.Find(uid);
    if (!run || IsStanding(client, *run)) return answer;
    for (text::Json& pod : run->pods) {
      answer.objects.emplace_back(std::move(pod), run->seen);
    }
    return answer;
  }
  for (SeenRun& run : seen.List(value("namespace"))) {
    if (!Fits(run, value("name"), value("id")) || IsStanding(client, run)) continue;
    answer.objects.emplace_back(std::move(run.job), run.seen);
  }
  answer.total = static_cast<int64_t>(answer.objects.size());
  return answer;
}

// The runs on another cluster that are not among the existing jobs; the records of those are
// renewed.
Remembered SeenBefore(const Context& context, const std::string& namespace_name,
                      const std::vector<TrainingJob>& standing) {
  const SeenRuns seen(context);
  std::set<std::string> uids;
  for (const TrainingJob& job : standing) {
    uids.insert(job.summary.uid);
    seen.RenewStatus(job.job);
  }
  Remembered answer;
  for (SeenRun& run : seen.List(namespace_name)) {
    if (uids.contains(std::string(api::Uid(run.job)))) continue;
    answer.objects.emplace_back(std::move(run.job), run.seen);
  }
  answer.total = static_cast<int64_t>(answer.objects.size());
  return answer;
}

base::Result<Remembered> Ask(cluster::Client& client, const Context& context,
                             const std::vector<std::pair<std::string, std::string>>& query) {
  if (!context.cluster_is_this_machine) {
    return AskMemory(client, context, {query.begin(), query.end()});
  }
  Remembered answer;
  std::string path = kRecordsPath;
  for (const auto& [name, value] : query) {
    if (value.empty()) continue;
    path += path.find('?') == std::string::npos ? '?' : '&';
    path += name + "=" + net::PercentEncode(value);
  }
  auto json = client.Ask("GET", path);
  if (!json && json.error().code == Code::kNotFound) return answer;  // an older daemon
  if (!json) return Fail(std::move(json.error()));
  answer.total = text::GetInt(*json, {"total"}).value_or(0);
  text::Array* items = json->as_object()["items"].if_array();
  if (items == nullptr) return answer;
  for (text::Json& item : *items) {
    const auto deleted = base::ParseRfc3339(text::GetString(item, {"deleted"}));
    answer.objects.emplace_back(std::move(item.as_object()["object"]),
                                deleted ? *deleted : base::Time{});
  }
  return answer;
}

void Summarize(const Context& context, RunRecord& run) {
  TrainingJob& job = run.job;
  job.summary = api::Summarize(job.job, Pointers(job.pods), *run.deleted);
  UseProgramsWords(context, job.summary);
  if (api::IsFinished(job.summary.status)) return;
  job.summary.status = kDeletedStatus;
  job.summary.reason.clear();
  job.summary.completion_time = run.deleted;
}

base::Status AddPastPods(cluster::Client& client, const Context& context, RunRecord& run) {
  TRY_ASSIGN(Remembered answer,
             Ask(client, context, {{"run", std::string(api::Uid(run.job.job))}}));
  for (auto& [pod, deleted] : answer.objects) {
    run.past_pods.push_back(std::move(pod));
    run.past_ends.push_back(deleted);
  }
  return {};
}

// For a job that has just been deleted: its pods are about to go, and are not remembered yet.
base::Status AddLeavingPods(cluster::Client& client, RunRecord& run) {
  cluster::ListOptions options;
  options.namespace_name = api::Namespace(run.job.job);
  options.label_selector = PodSelector(run.job.job);
  TRY_ASSIGN(cluster::ObjectList pods, client.List(api::kPods, options));
  for (text::Json& pod : pods.items) {
    if (api::IsPodOfJob(pod, run.job.job)) run.job.pods.push_back(std::move(pod));
  }
  return {};
}

// The last of the deleted pods of each name.
std::vector<text::Json> LastPods(const RunRecord& run) {
  std::map<std::string, const text::Json*> last;
  for (const text::Json& pod : run.past_pods) last[std::string(api::Name(pod))] = &pod;
  std::vector<text::Json> pods;
  for (const auto& [name, pod] : last) pods.push_back(*pod);
  return pods;
}

base::Result<RunRecord> GoneRun(cluster::Client& client, const Context& context, text::Json job,
                                base::Time deleted) {
  RunRecord run;
  run.job.job = std::move(job);
  run.deleted = deleted;
  TRY(AddPastPods(client, context, run));
  run.job.pods = LastPods(run);
  if (run.job.pods.empty() && context.cluster_is_this_machine) TRY(AddLeavingPods(client, run));
  Summarize(context, run);
  return run;
}

base::Error Ambiguous(const std::string& run) {
  return {Code::kInvalidArgument, fmt::format("several runs have an id that begins with {}", run),
          0};
}

// "" if no existing job has such an id.
base::Result<std::string> NameOfId(cluster::Client& client, const Context& context,
                                   const std::string& id) {
  cluster::ListOptions options;
  options.namespace_name = context.Namespace();
  TRY_ASSIGN(options.label_selector, VisibleSelector(client, context, ""));
  TRY_ASSIGN(const cluster::ObjectList jobs, client.List(api::kPyTorchJobs, options));
  std::string name;
  for (const text::Json& job : jobs.items) {
    if (!api::Uid(job).starts_with(id)) continue;
    if (!name.empty()) return Fail(Ambiguous(id));
    name = api::Name(job);
  }
  return name;
}

base::Result<RunRecord> StandingRun(cluster::Client& client, const Context& context,
                                    const std::string& name) {
  RunRecord run;
  TRY_ASSIGN(run.job, FindJob(client, context, context.Namespace(), name, Pods::kIfAllowed));
  if (!context.cluster_is_this_machine) {
    SeenRuns(context).Renew(run.job.job, run.job.pods);
    return run;
  }
  TRY(AddPastPods(client, context, run));
  return run;
}

}  // namespace

std::vector<PodOfRun> PodsOf(const RunRecord& run) {
  std::vector<PodOfRun> pods;
  for (size_t i = 0; i < run.past_pods.size(); ++i) {
    pods.push_back({&run.past_pods[i], true,
                    i < run.past_ends.size() ? std::optional(run.past_ends[i]) : std::nullopt});
  }
  if (run.deleted) return pods;  // the job's are the last of these
  for (const text::Json& pod : run.job.pods) pods.push_back({&pod, false, std::nullopt});
  return pods;
}

std::string RunRecord::id() const { return std::string(api::Uid(job.job).substr(0, kIdLength)); }

base::Result<std::optional<RunRecord>> FindGoneRun(cluster::Client& client, const Context& context,
                                                   const std::string& run) {
  const std::string in = context.Namespace();
  TRY_ASSIGN(Remembered answer,
             Ask(client, context, {{"namespace", in}, {"name", run}, {"limit", "1"}}));
  if (answer.objects.empty() && IsIdPrefix(run)) {
    TRY_ASSIGN(answer, Ask(client, context, {{"namespace", in}, {"id", run}, {"limit", "2"}}));
    if (answer.objects.size() > 1) return Fail(Ambiguous(run));
  }
  if (answer.objects.empty()) return std::nullopt;
  auto& [job, deleted] = answer.objects.front();
  return GoneRun(client, context, std::move(job), deleted);
}

base::Result<RunRecord> FindRun(cluster::Client& client, const Context& context,
                                const std::string& run) {
  auto standing = StandingRun(client, context, run);
  if (standing || standing.error().code != Code::kNotFound) return standing;
  if (IsIdPrefix(run)) {
    TRY_ASSIGN(const std::string name, NameOfId(client, context, run));
    if (!name.empty()) return StandingRun(client, context, name);
  }
  TRY_ASSIGN(std::optional<RunRecord> gone, FindGoneRun(client, context, run));
  if (gone) return std::move(*gone);
  return Fail(Code::kNotFound,
              fmt::format("no run {} is known{}: `{} history` lists the known ones", run,
                          context.cluster_is_this_machine
                              ? ""
                              : "; on this cluster only existing jobs are known, and the ones that "
                                "this machine submitted",
                          context.program));
}

base::Result<TrainingJob> WithPastPods(cluster::Client& client, const Context& context,
                                       TrainingJob job) {
  if (!context.cluster_is_this_machine || !job.pods.empty()) return job;
  RunRecord run;
  run.job = std::move(job);
  TRY(AddPastPods(client, context, run));
  run.job.pods = LastPods(run);
  run.job.summary = api::Summarize(run.job.job, Pointers(run.job.pods), context.clock.Now());
  return std::move(run.job);
}

base::Result<KnownRuns> ListRuns(cluster::Client& client, const Context& context,
                                 const std::string& namespace_name, int64_t limit) {
  TRY_ASSIGN(const std::string selector, VisibleSelector(client, context, ""));
  TRY_ASSIGN(std::vector<TrainingJob> jobs,
             ListSelectedJobs(client, context, namespace_name, selector));
  Remembered answer = SeenBefore(context, namespace_name, jobs);
  if (context.cluster_is_this_machine) {
    TRY_ASSIGN(answer, Ask(client, context,
                           {{"namespace", namespace_name},
                            {"limit", limit > 0 ? fmt::to_string(limit) : ""}}));
  }
  KnownRuns list;
  list.total = static_cast<int64_t>(jobs.size()) + answer.total;
  for (TrainingJob& job : jobs) list.runs.emplace_back().job = std::move(job);
  for (auto& [job, deleted] : answer.objects) {
    RunRecord& run = list.runs.emplace_back();
    run.job.job = std::move(job);
    run.deleted = deleted;
    Summarize(context, run);
  }
  std::stable_sort(list.runs.begin(), list.runs.end(), [](const RunRecord& a, const RunRecord& b) {
    const api::TrainingSummary& left = a.job.summary;
    const api::TrainingSummary& right = b.job.summary;
    if (left.created != right.created) return left.created > right.created;
    return left.name > right.name;
  });
  if (limit > 0 && list.runs.size() > static_cast<size_t>(limit)) {
    list.runs.erase(list.runs.begin() + limit, list.runs.end());
  }
  return list;
}

base::Status ReadWhole(cluster::Client& client, const Context& context, RunRecord& run) {
  if (!run.deleted) {
    const api::TrainingSummary& summary = run.job.summary;
    TRY_ASSIGN(run.job,
               FindJob(client, context, summary.namespace_name, summary.name, Pods::kIfAllowed));
  }
  run.past_pods.clear();
  run.past_ends.clear();
  return AddPastPods(client, context, run);
}

base::Status ForgetRun(cluster::Client& client, const Context& context, const text::Json& job) {
  if (!context.cluster_is_this_machine) {
    SeenRuns(context).Forget(api::Uid(job));
    return {};
  }
  TRY(client.Ask("DELETE", fmt::format("{}?run={}", kRecordsPath, api::Uid(job))));
  return {};
}

}  // namespace arena
