#include "arena/jobs/job_watch.h"

#include <utility>

#include "base/log.h"

namespace arena {
namespace {

std::string NameOf(const text::Json& object) {
  return std::string(text::GetString(object, {"metadata", "name"}));
}

}  // namespace

JobWatch::JobWatch(cluster::Client& client, const std::string& namespace_name,
                   const std::string& job, const std::string& pod_selector)
    : job_name_(job) {
  cluster::ListOptions of_job;
  of_job.namespace_name = namespace_name;
  of_job.field_selector = "metadata.name=" + job;
  cluster::ListOptions of_pods;
  of_pods.namespace_name = namespace_name;
  of_pods.label_selector = pod_selector;
  jobs_ = std::make_unique<cluster::Reflector>(
      client, api::kPyTorchJobs, of_job,
      cluster::ReflectorHandler{
          [this](std::vector<text::Json> items) { ReplaceJob(std::move(items)); },
          [this](cluster::WatchEvent event) { ApplyJob(std::move(event)); },
          [this](const base::Error& error) { Refuse(error); }});
  pods_ = std::make_unique<cluster::Reflector>(
      client, api::kPods, of_pods,
      cluster::ReflectorHandler{
          [this](std::vector<text::Json> items) { ReplacePods(std::move(items)); },
          [this](cluster::WatchEvent event) { ApplyPod(std::move(event)); },
          [this](const base::Error& error) { Refuse(error); }});
}

void JobWatch::ReplaceJob(std::vector<text::Json> items) {
  auto snapshot = snapshot_.Lock();
  ++snapshot->version;
  snapshot->is_job_known = true;
  snapshot->job.reset();
  for (text::Json& item : items) {
    if (NameOf(item) == job_name_) snapshot->job = std::move(item);
  }
  changed_.notify_all();
}

void JobWatch::ReplacePods(std::vector<text::Json> items) {
  auto snapshot = snapshot_.Lock();
  ++snapshot->version;
  snapshot->are_pods_known = true;
  snapshot->pods.clear();
  for (text::Json& item : items) {
    std::string name = NameOf(item);
    snapshot->pods[std::move(name)] = std::move(item);
  }
  changed_.notify_all();
}

void JobWatch::ApplyJob(cluster::WatchEvent event) {
  if (NameOf(event.object) != job_name_) return;
  auto snapshot = snapshot_.Lock();
  ++snapshot->version;
  if (event.type == cluster::WatchEvent::Type::kDeleted) {
    snapshot->job.reset();
  } else {
    snapshot->job = std::move(event.object);
  }
  changed_.notify_all();
}

void JobWatch::ApplyPod(cluster::WatchEvent event) {
  auto snapshot = snapshot_.Lock();
  ++snapshot->version;
  std::string name = NameOf(event.object);
  if (event.type == cluster::WatchEvent::Type::kDeleted) {
    snapshot->pods.erase(name);
  } else {
    snapshot->pods[std::move(name)] = std::move(event.object);
  }
  changed_.notify_all();
}

void JobWatch::Wake() {
  // Under the lock, so that it does not fall between a waiter's check and its sleep.
  const auto snapshot = snapshot_.Lock();
  changed_.notify_all();
}

void JobWatch::Refuse(const base::Error& error) {
  snapshot_.Lock()->refusal = error;
  changed_.notify_all();
}

base::Status JobWatch::Refusal() {
  auto snapshot = snapshot_.Lock();
  if (snapshot->refusal) return base::Fail(*snapshot->refusal);
  return {};
}

bool JobWatch::Wait(std::chrono::milliseconds timeout,
                    const std::function<bool(const Snapshot&)>& done) {
  auto snapshot = snapshot_.Lock();
  bool is_done = false;
  changed_.wait_for(snapshot.lock(), timeout, [&] {
    is_done = snapshot->is_job_known && snapshot->are_pods_known && done(*snapshot);
    return is_done || snapshot->refusal;
  });
  return is_done;
}

base::Status JobProbe::Look(JobWatch& watch) {
  TRY(watch.Refusal());
  const auto job = client_.Get(api::kPyTorchJobs, namespace_name_, job_);
  if (job || job.error().code == base::Code::kNotFound) {
    misses_ = 0;
    return {};
  }
  const bool may_come_back =
      job.error().code == base::Code::kUnavailable || job.error().code == base::Code::kTimeout;
  if (!may_come_back || ++misses_ >= kMaxMisses) return base::Fail(job.error());
  if (misses_ == 1) base::LogWarn("{}; still waiting", job.error().message);
  return {};
}

}  // namespace arena
