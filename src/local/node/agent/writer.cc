#include "local/node/agent/writer.h"

#include <utility>

#include "api/object.h"
#include "api/resources.h"
#include "base/log.h"

namespace local::node {

namespace {

// Whether to try again: the server was away or busy. Otherwise the pod is gone or the write is
// wrong.
bool IsTransient(const base::Error& error) {
  switch (error.code) {
    case base::Code::kUnavailable:
    case base::Code::kTimeout:
    case base::Code::kExhausted:
    case base::Code::kInternal:
    case base::Code::kCancelled:
      return true;
    default:
      return false;
  }
}

cluster::BatchWrite StatusWrite(const PodIdentity& pod, const text::Json& status) {
  cluster::BatchWrite write;
  write.verb = cluster::BatchWrite::Verb::kUpdateStatus;
  write.read = cluster::PassOver;
  write.resource = &api::kPods;
  write.namespace_name = pod.namespace_name;
  write.name = pod.name;
  // With the uid, the write conflicts when another pod has the name now. Only the agent writes the
  // status of a bound pod, so no resourceVersion is needed.
  write.object = text::Object{
      {"apiVersion", "v1"},
      {"kind", "Pod"},
      {"metadata", {{"name", pod.name}, {"namespace", pod.namespace_name}, {"uid", pod.uid}}},
      {"status", status}};
  return write;
}

cluster::BatchWrite DeleteWrite(const PodIdentity& pod) {
  cluster::BatchWrite write;
  write.verb = cluster::BatchWrite::Verb::kDelete;
  write.read = cluster::PassOver;
  write.resource = &api::kPods;
  write.namespace_name = pod.namespace_name;
  write.name = pod.name;
  write.delete_options.uid = pod.uid;
  write.delete_options.grace_period_seconds = 0;
  return write;
}

}  // namespace

StatusWriter::StatusWriter(cluster::Client& client) : client_(client), thread_([this] { Run(); }) {}

StatusWriter::~StatusWriter() {
  {
    const std::lock_guard lock(mutex_);
    is_stopped_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void StatusWriter::PutStatus(const PodIdentity& pod, text::Json status) {
  {
    const std::lock_guard lock(mutex_);
    Pending& pending = pods_[pod.uid];
    pending.pod = pod;
    pending.status = std::move(status);
  }
  wake_.notify_one();
}

void StatusWriter::DeletePod(const PodIdentity& pod) {
  {
    const std::lock_guard lock(mutex_);
    Pending& pending = pods_[pod.uid];
    pending.pod = pod;
    pending.is_to_be_deleted = true;
  }
  wake_.notify_one();
}

void StatusWriter::PutNode(text::Json node) {
  {
    const std::lock_guard lock(mutex_);
    node_ = std::move(node);
  }
  wake_.notify_one();
}

void StatusWriter::Run() {
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [this] { return is_stopped_ || !pods_.empty() || node_; });
    if (is_stopped_) return;
    Pods pods = std::exchange(pods_, {});
    std::optional<text::Json> node = std::exchange(node_, std::nullopt);
    lock.unlock();
    if (node && WriteNode(*node)) node.reset();
    pods = WritePods(std::move(pods));
    lock.lock();
    if (!node && pods.empty()) {
      backoff_.Reset();
      continue;
    }
    // A newer Node replaces the one that could not be written.
    if (!node_) node_ = std::move(node);
    for (auto& [uid, pending] : pods) {
      const auto [it, is_new] = pods_.try_emplace(uid, pending);
      if (!is_new) {
        if (!it->second.status) it->second.status = std::move(pending.status);
        it->second.is_to_be_deleted |= pending.is_to_be_deleted;
      }
    }
    wake_.wait_for(lock, backoff_.Next(), [this] { return is_stopped_; });
  }
}

StatusWriter::Pods StatusWriter::WritePods(Pods pods) {
  std::vector<cluster::BatchWrite> writes;
  for (const auto& [uid, pending] : pods) {
    if (pending.status) writes.push_back(StatusWrite(pending.pod, *pending.status));
    if (pending.is_to_be_deleted) writes.push_back(DeleteWrite(pending.pod));
  }
  Pods again;
  if (writes.empty()) return again;
  const auto results = client_.Batch(writes);
  size_t next = 0;
  for (auto& [uid, pending] : pods) {
    const auto failed = [&](std::string_view what) {
      const auto& result = results[next++];
      if (result) return false;
      base::LogDebug("{} of pod {}/{}: {}", what, pending.pod.namespace_name, pending.pod.name,
                     result.error().message);
      return IsTransient(result.error());
    };
    if (pending.status && !failed("status")) pending.status.reset();
    if (pending.is_to_be_deleted && !failed("deletion")) pending.is_to_be_deleted = false;
    if (pending.status || pending.is_to_be_deleted) again.emplace(uid, std::move(pending));
  }
  return again;
}

bool StatusWriter::WriteNode(const text::Json& node) {
  // It is there but for once. Labels and annotations that others have set are kept.
  auto kept = client_.Patch(api::kNodes, "", api::Name(node), cluster::PatchType::kMerge,
                            text::Object{{"metadata", *text::Find(node, {"metadata"})}});
  if (!kept && kept.error().code == base::Code::kNotFound) {
    kept = client_.Create(api::kNodes, "", node);
  }
  const auto status = kept ? client_.UpdateStatus(api::kNodes, node) : std::move(kept);
  if (status) return true;
  base::LogWarn("register the node: {}", status.error().message);
  return !IsTransient(status.error());
}

}  // namespace local::node
