#include "controller/loop/event_recorder.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <string_view>
#include <utility>

#include "api/resources.h"
#include "base/log.h"
#include "base/uid.h"

namespace controller {
namespace {
// How many written events are remembered, so that a repetition only raises their count.
constexpr size_t kMaxRemembered = 4'096;
// Written with one request.
constexpr size_t kMaxBatch = 64;

// The texts of an event, in the order in which they are packed.
template <typename WaitingEvent>
auto TextsOf(WaitingEvent& event) {
  return std::array{&event.api_version,  &event.kind,         &event.namespace_name,
                    &event.name,         &event.uid,          &event.version,
                    &event.event.reason, &event.event.message};
}

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

size_t EventRecorder::Waiting() const {
  const std::lock_guard lock(mutex_);
  return waiting_.size();
}

int64_t EventRecorder::Dropped() const {
  const std::lock_guard lock(mutex_);
  return dropped_;
}

EventRecorder::PackedEvent EventRecorder::Pack(const WaitingEvent& event) {
  PackedEvent packed{{}, event.event.is_warning, event.at};
  for (const std::string* const text : TextsOf(event)) {
    packed.texts += *text;
    packed.texts += '\0';
  }
  packed.texts.shrink_to_fit();
  return packed;
}

EventRecorder::WaitingEvent EventRecorder::Unpack(const PackedEvent& packed) {
  WaitingEvent event;
  event.event.is_warning = packed.is_warning;
  event.at = packed.at;
  std::string_view left = packed.texts;
  for (std::string* const text : TextsOf(event)) {
    *text = left.substr(0, left.find('\0'));
    left.remove_prefix(text->size() + 1);
  }
  return event;
}

void EventRecorder::Record(const text::Json& involved, const reconcile::Event& event) {
  const auto read = [&involved](text::Path path) {
    return std::string(text::GetString(involved, path));
  };
  const WaitingEvent waiting{read({"apiVersion"}),
                             read({"kind"}),
                             read({"metadata", "namespace"}),
                             read({"metadata", "name"}),
                             read({"metadata", "uid"}),
                             read({"metadata", "resourceVersion"}),
                             event,
                             clock_.Now()};
  PackedEvent packed = Pack(waiting);
  const std::lock_guard lock(mutex_);
  if (waiting_.size() >= kMaxWaiting) {
    waiting_.pop_front();
    ++dropped_;
  }
  waiting_.push_back(std::move(packed));
  wake_.notify_one();
}

text::Json EventRecorder::ToObject(const WaitingEvent& waiting, std::string name) const {
  const std::string time = base::FormatRfc3339(waiting.at);
  return text::Object{
      {"apiVersion", "v1"},
      {"kind", "Event"},
      {"metadata", text::Object{{"name", std::move(name)}, {"namespace", waiting.namespace_name}}},
      {"involvedObject", text::Object{{"apiVersion", waiting.api_version},
                                      {"kind", waiting.kind},
                                      {"namespace", waiting.namespace_name},
                                      {"name", waiting.name},
                                      {"uid", waiting.uid},
                                      {"resourceVersion", waiting.version}}},
      {"type", waiting.event.is_warning ? "Warning" : "Normal"},
      {"reason", waiting.event.reason},
      {"message", waiting.event.message},
      {"source", text::Object{{"component", component_}}},
      {"reportingComponent", component_},
      {"firstTimestamp", time},
      {"lastTimestamp", time},
      {"count", 1}};
}

void EventRecorder::Run() {
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [this] { return is_stopped_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    std::vector<WaitingEvent> batch;
    while (!waiting_.empty() && batch.size() < kMaxBatch) {
      batch.push_back(Unpack(waiting_.front()));
      waiting_.pop_front();
    }
    lock.unlock();
    WriteAll(batch);
    lock.lock();
  }
}

void EventRecorder::WriteAll(const std::vector<WaitingEvent>& batch) {
  if (written_.size() > kMaxRemembered) written_.clear();
  std::vector<cluster::BatchWrite> writes;
  std::vector<uint64_t> keys;
  for (const WaitingEvent& waiting : batch) {
    const uint64_t key =
        std::hash<std::string>()(fmt::format("{}|{}|{}|{}", waiting.uid, waiting.event.is_warning,
                                             waiting.event.reason, waiting.event.message));
    if (const auto twin = std::find(keys.begin(), keys.end(), key); twin != keys.end()) {
      // It is about to be written, so a patch would arrive before it.
      text::Object& object = writes[static_cast<size_t>(twin - keys.begin())].object.as_object();
      object["count"] = ++written_[key].count;
      object["lastTimestamp"] = base::FormatRfc3339(waiting.at);
      continue;
    }
    keys.push_back(key);
    cluster::BatchWrite write;
    write.resource = &api::kEvents;
    write.read = cluster::PassOver;
    write.namespace_name = waiting.namespace_name;
    const auto known = written_.find(key);
    if (known == written_.end()) {
      std::string name = fmt::format("{}.{}", waiting.name, base::RandomName(12));
      written_[key] = {name, 1};
      write.verb = cluster::BatchWrite::Verb::kCreate;
      write.object = ToObject(waiting, std::move(name));
    } else {
      write.verb = cluster::BatchWrite::Verb::kPatch;
      write.name = known->second.name;
      write.object = text::Object{{"count", ++known->second.count},
                                  {"lastTimestamp", base::FormatRfc3339(waiting.at)}};
    }
    writes.push_back(std::move(write));
  }
  const auto results = client_.Batch(writes);
  for (size_t i = 0; i < results.size(); ++i) {
    if (results[i]) continue;
    written_.erase(keys[i]);
    SayNotWritten(results[i].error());
  }
}

void EventRecorder::SayNotWritten(const base::Error& error) {
  // A namespace that is being deleted refuses them, too.
  const bool lacks_right = error.code == base::Code::kPermissionDenied &&
                           !error.message.ends_with("because it is being terminated");
  if (!lacks_right || std::exchange(has_warned_, true)) {
    return base::LogDebug("event not written: {}", error.message);
  }
  base::LogWarn("events are lost: {}", error.message);
}

}  // namespace controller
