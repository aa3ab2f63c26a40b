#include "controller/event_recorder.h"

#include <fmt/format.h>

#include "api/resources.h"
#include "base/log.h"
#include "base/uid.h"

namespace controller {
namespace {
// Events that can still be counted up rather than written anew.
constexpr size_t kMaxRemembered = 4'096;
// Written with one call.
constexpr size_t kMaxBatch = 256;
}  // namespace

EventRecorder::EventRecorder(cluster::Client& client, base::Clock& clock, std::string component)
    : client_(client),
      clock_(clock),
      component_(std::move(component)),
      thread_([this] { Run(); }) {}

EventRecorder::~EventRecorder() {
  {
    const std::lock_guard lock(mutex_);
    is_stopped_ = true;
    wake_.notify_one();
  }
  thread_.join();
}

void EventRecorder::Record(const text::Json& involved, const reconcile::Event& event) {
  const std::string namespace_name(text::GetString(involved, {"metadata", "namespace"}));
  const std::string name(text::GetString(involved, {"metadata", "name"}));
  const std::string uid(text::GetString(involved, {"metadata", "uid"}));
  const std::string now = base::FormatRfc3339(clock_.Now());
  const char* const type = event.is_warning ? "Warning" : "Normal";
  text::Json object = text::Object{
      {"apiVersion", "v1"},
      {"kind", "Event"},
      {"metadata", text::Object{{"name", fmt::format("{}.{}", name, base::RandomName(12))},
                                {"namespace", namespace_name}}},
      {"involvedObject",
       text::Object{
           {"apiVersion", text::GetString(involved, {"apiVersion"})},
           {"kind", text::GetString(involved, {"kind"})},
           {"namespace", namespace_name},
           {"name", name},
           {"uid", uid},
           {"resourceVersion", text::GetString(involved, {"metadata", "resourceVersion"})}}},
      {"type", type},
      {"reason", event.reason},
      {"message", event.message},
      {"source", text::Object{{"component", component_}}},
      {"reportingComponent", component_},
      {"firstTimestamp", now},
      {"lastTimestamp", now},
      {"count", 1}};
  const std::lock_guard lock(mutex_);
  if (waiting_.size() >= kMaxWaiting) waiting_.pop_front();
  waiting_.push_back(
      {std::move(object), fmt::format("{}|{}|{}|{}", uid, type, event.reason, event.message)});
  wake_.notify_one();
}

void EventRecorder::Run() {
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [this] { return is_stopped_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    std::deque<Waiting> batch;
    while (!waiting_.empty() && batch.size() < kMaxBatch) {
      batch.push_back(std::move(waiting_.front()));
      waiting_.pop_front();
    }
    lock.unlock();
    WriteAll(std::move(batch));
    lock.lock();
  }
}

void EventRecorder::WriteAll(std::deque<Waiting> batch) {
  if (written_.size() > kMaxRemembered) written_.clear();
  std::vector<cluster::BatchWrite> writes;
  for (Waiting& waiting : batch) {
    cluster::BatchWrite write;
    write.resource = &api::kEvents;
    write.namespace_name = text::GetString(waiting.object, {"metadata", "namespace"});
    const auto known = written_.find(waiting.aggregate_key);
    if (known == written_.end()) {
      written_[waiting.aggregate_key] = {
          write.namespace_name, std::string(text::GetString(waiting.object, {"metadata", "name"})),
          1};
      write.verb = cluster::BatchWrite::Verb::kCreate;
      write.object = std::move(waiting.object);
    } else {
      write.verb = cluster::BatchWrite::Verb::kPatch;
      write.name = known->second.name;
      write.object =
          text::Object{{"count", ++known->second.count},
                       {"lastTimestamp", text::GetString(waiting.object, {"lastTimestamp"})}};
    }
    writes.push_back(std::move(write));
  }
  const auto results = client_.Batch(writes);
  for (size_t i = 0; i < results.size(); ++i) {
    if (results[i]) continue;
    written_.erase(batch[i].aggregate_key);
    base::LogDebug("event not written: {}", results[i].error().message);
  }
}

}  // namespace controller
