#include "local/server/kinds/job_summaries.h"

#include <atomic>
#include <boost/json/monotonic_resource.hpp>
#include <future>
#include <iterator>
#include <vector>

#include "api/job/training_summary.h"
#include "api/job/wait_for.h"
#include "api/names.h"
#include "api/object.h"
#include "local/store/object.h"
#include "text/document.h"
#include "text/projection.h"

namespace local::server {
namespace {

// From this many rows on, two threads read them.
constexpr size_t kWorthAThread = 200;

const std::string& JobResource() {
  static const std::string name = store::ResourceName(api::kPyTorchJobs);
  return name;
}

std::string LastCondition(const text::Json& job) {
  const text::Array& conditions = text::Items(job, {"status", "conditions"});
  return std::string(conditions.empty() ? "" : text::GetString(conditions.back(), {"type"}));
}

// The fields from which a row is made.
const text::Projection& RowParts() {
  static const text::Projection kParts{{"metadata", "name"},
                                       {"metadata", "namespace"},
                                       {"metadata", "uid"},
                                       {"metadata", "resourceVersion"},
                                       {"metadata", "generation"},
                                       {"metadata", "creationTimestamp"},
                                       {"metadata", "deletionTimestamp"},
                                       {"metadata", "labels"},
                                       {"metadata", "annotations", api::kCreatedAnnotation},
                                       {"metadata", "annotations", api::kWaitForAnnotation},
                                       {"metadata", "annotations", api::kStallAnnotation},
                                       {"spec", "runPolicy", "suspend"},
                                       {"status"}};
  return kParts;
}

// Whether the row of this job needs only its master pod: the job has ended and requested no GPUs.
// After a start, the first list waits for this, with perhaps ten thousand jobs.
bool NeedsOnlyChief(std::string_view json, const text::Json& job) {
  if (json.find("gpu\"") != std::string_view::npos) return false;
  return api::IsJobFinished(job);
}

// Annotations and owners may be large (the submitter's environment), and no table shows them.
std::string CompactMetadata(const text::Json& job) {
  text::Object metadata;
  for (const char* key : {"name", "namespace", "uid", "resourceVersion", "generation",
                          "creationTimestamp", "deletionTimestamp", "labels"}) {
    if (const text::Json* value = text::Find(job, {"metadata", key})) metadata[key] = *value;
  }
  if (const std::string_view exact = api::Annotation(job, api::kCreatedAnnotation);
      !exact.empty()) {
    metadata["annotations"] = text::Object{{api::kCreatedAnnotation, exact}};
  }
  return text::ToJson(metadata);
}

std::string_view JobOf(const text::Json& pod) {
  const std::string_view job = api::Label(pod, api::kJobNameLabel);
  return job.empty() ? api::Label(pod, "release") : job;
}

}  // namespace

JobRow SummarizeJob(const text::Json& job, const std::vector<const text::Json*>& pods,
                    base::Time now) {
  const api::TrainingSummary summary = api::Outline(job, pods, now);
  JobRow row;
  row.namespace_name = api::Namespace(job);
  row.name = api::Name(job);
  row.metadata = CompactMetadata(job);
  row.selectable = text::PartOf(job, store::SelectableParts());
  row.state = LastCondition(job);
  row.status = summary.status;
  row.created = summary.created;
  row.start = summary.start_time;
  if (summary.completion_time || summary.status == "FAILED") row.took = summary.duration;
  row.requested_gpus = summary.requested_gpus;
  row.allocated_gpus = summary.allocated_gpus;
  row.node = summary.chief_host_ip;
  if (row.status == "RUNNING") row.stall_note = api::Annotation(job, api::kStallAnnotation);
  return row;
}

base::Duration JobRow::DurationAt(base::Time now) const {
  if (took) return *took;
  if (start) return now - *start;
  return base::Duration::zero();
}

base::Status JobSummaries::Start(store::Store& store) {
  store::ListQuery query;
  query.resource = JobResource();
  const std::lock_guard lock(mutex_);
  const auto listed = store.List(query, [this](const store::Row& row) {
    state_.stale.emplace(row.namespace_name, row.name);
    return true;
  });
  if (!listed) return base::Fail(listed.error());
  state_.version = *listed;
  return {};
}

void JobSummaries::OnCommit(std::span<const store::EventPtr> events, int64_t version) {
  const std::lock_guard lock(mutex_);
  for (const store::EventPtr& event : events) {
    const store::Key& key = event->key;
    if (key.resource == JobResource()) {
      state_.stale.emplace(key.namespace_name, key.name);
    } else if (key.resource == "pods") {
      const std::shared_ptr<const text::Json> pod = event->object.lock();
      if (!pod) continue;
      Position job(key.namespace_name, JobOf(*pod));
      if (!job.second.empty()) state_.stale.insert(std::move(job));
    }
  }
  state_.version = version;
}

base::Result<std::optional<JobRow>> JobSummaries::Read(store::Store& store,
                                                       const Position& job) const {
  auto json = store.Get({JobResource(), job.first, job.second});
  if (!json) {
    if (json.error().code == base::Code::kNotFound) return std::nullopt;
    return base::Fail(std::move(json.error()));
  }
  // With ten thousand jobs a list waits for this: avoids allocations for each job.
  unsigned char first_block[32 << 10];
  boost::json::monotonic_resource memory(first_block, sizeof first_block);
  std::string scratch;
  scratch.reserve(json->size());
  TRY_ASSIGN(const text::Json object, text::ParsePart(*json, RowParts(), scratch, &memory));
  if (NeedsOnlyChief(*json, object)) {
    const auto chief = store.Get({"pods", job.first, job.second + "-master-0"});
    if (chief) {
      const auto pod = text::ParsePart(*chief, api::OutlinedParts(), scratch, &memory);
      if (pod && api::IsPodOfJob(*pod, object)) return SummarizeJob(object, {&*pod}, clock_.Now());
    }
  }
  store::ListQuery query;
  query.resource = "pods";
  query.namespace_name = job.first;
  query.job = job.second;
  std::vector<text::Json> pods;
  TRY(store.List(query, [&](const store::Row& row) {
    auto pod = text::ParsePart(row.json, api::OutlinedParts(), scratch, &memory);
    if (pod && api::IsPodOfJob(*pod, object)) pods.push_back(std::move(*pod));
    return true;
  }));
  std::vector<const text::Json*> borrowed;
  for (const text::Json& pod : pods) borrowed.push_back(&pod);
  return SummarizeJob(object, borrowed, clock_.Now());
}

base::Status JobSummaries::Refresh(store::Store& store) {
  const std::lock_guard refresh(refresh_);
  return RefreshLocked(store);
}

base::Status JobSummaries::RefreshLocked(store::Store& store) {
  std::set<Position> taken;
  {
    const std::lock_guard lock(mutex_);
    taken.swap(state_.stale);
  }
  const std::vector<Position> stale(std::make_move_iterator(taken.begin()),
                                    std::make_move_iterator(taken.end()));
  std::atomic<size_t> next{0};
  const auto read_some = [&]() -> base::Status {
    base::Status status;
    for (size_t i = next++; i < stale.size(); i = next++) {
      const Position& job = stale[i];
      if (is_stopped_ && status) status = base::Fail(base::Code::kCancelled, "stopping");
      auto row = status ? Read(store, job) : base::Result<std::optional<JobRow>>(std::nullopt);
      if (status && !row) status = base::Fail(row.error());
      const std::lock_guard lock(mutex_);
      if (!status) {
        state_.stale.insert(job);  // for the next attempt
      } else if (*row) {
        state_.rows[job] = std::move(**row);
      } else {
        state_.rows.erase(job);
      }
    }
    return status;
  };
  // After a start all rows are stale, and a client waits for them.
  std::future<base::Status> helper;
  if (stale.size() >= kWorthAThread) helper = std::async(std::launch::async, read_some);
  const base::Status status = read_some();
  const base::Status helped = helper.valid() ? helper.get() : base::Status();
  return status ? helped : status;
}

base::Result<int64_t> JobSummaries::Visit(store::Store& store, const std::string& namespace_name,
                                          const Position& after,
                                          const std::function<bool(const JobRow&)>& visit) {
  const std::lock_guard refresh(refresh_);
  int64_t version = 0;
  {
    const std::lock_guard lock(mutex_);
    version = state_.version;
  }
  TRY(RefreshLocked(store));
  const std::lock_guard lock(mutex_);
  auto row = after.second.empty() ? state_.rows.lower_bound({namespace_name, ""})
                                  : state_.rows.upper_bound(after);
  for (; row != state_.rows.end(); ++row) {
    if (!namespace_name.empty() && row->first.first != namespace_name) break;
    if (!visit(row->second)) break;
  }
  return version;
}

base::Result<std::optional<JobRow>> JobSummaries::Get(store::Store& store, const Position& job) {
  const std::lock_guard refresh(refresh_);
  TRY(RefreshLocked(store));
  const std::lock_guard lock(mutex_);
  const auto found = state_.rows.find(job);
  if (found == state_.rows.end()) return std::nullopt;
  return found->second;
}

}  // namespace local::server
