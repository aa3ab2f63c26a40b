#include "local/daemon/event_janitor.h"

#include <tuple>
#include <vector>

#include "api/resources.h"
#include "base/log.h"
#include "text/projection.h"

namespace local::daemon {
namespace {
// Deleted with one call.
constexpr size_t kMaxBatch = 256;
}  // namespace

EventJanitor::EventJanitor(cluster::Client& client, base::Clock& clock)
    : client_(client), clock_(clock) {
  cluster::ReflectorHandler handler;
  handler.replace = [](const std::vector<text::Json>&) {};  // noted while they were read
  handler.apply = [this](const cluster::WatchEvent& event) {
    if (event.type != cluster::WatchEvent::Type::kDeleted) Note(event.object);
  };
  cluster::ListOptions options;
  // There may be hundreds of thousands: none is kept.
  options.read_listed = [this](std::string_view text) -> base::Result<text::Json> {
    static const text::Projection kParts{
        {"metadata", "namespace"}, {"metadata", "name"}, {"lastTimestamp"}};
    TRY_ASSIGN(const text::Json event, text::ParsePart(text, kParts));
    Note(event);
    return text::Json(nullptr);
  };
  reflector_ = std::make_unique<cluster::Reflector>(client_, api::kEvents, std::move(options),
                                                    std::move(handler));
  thread_ = std::thread([this] { Run(); });
}

EventJanitor::~EventJanitor() {
  reflector_.reset();
  {
    const std::lock_guard lock(mutex_);
    is_stopped_ = true;
    wake_.notify_one();
  }
  thread_.join();
}

void EventJanitor::Note(const text::Json& event) {
  Key key{text::GetString(event, {"metadata", "namespace"}),
          text::GetString(event, {"metadata", "name"})};
  const auto seen = base::ParseRfc3339(text::GetString(event, {"lastTimestamp"}));
  const base::Time at = seen ? *seen : clock_.Now();
  const std::lock_guard lock(mutex_);
  const auto [known, is_new] = last_seen_.emplace(std::move(key), at);
  known->second = at;
  if (!is_new) return;
  const bool is_first = by_age_.empty();
  by_age_.emplace(at, known);
  if (is_first) wake_.notify_one();
}

void EventJanitor::Run() {
  std::unique_lock lock(mutex_);
  while (!is_stopped_) {
    if (by_age_.empty()) {
      wake_.wait(lock);
      continue;
    }
    const base::Duration left = by_age_.begin()->first + kEventLife - clock_.Now();
    if (left > base::Duration::zero()) {
      wake_.wait_for(lock, left);
      continue;
    }
    std::vector<cluster::BatchWrite> deletions;
    while (!by_age_.empty() && deletions.size() < kMaxBatch &&
           by_age_.begin()->first + kEventLife <= clock_.Now()) {
      auto oldest = by_age_.extract(by_age_.begin());
      const auto seen = oldest.mapped();
      if (seen->second > oldest.key()) {
        oldest.key() = seen->second;
        by_age_.insert(std::move(oldest));
        continue;
      }
      cluster::BatchWrite deletion;
      deletion.verb = cluster::BatchWrite::Verb::kDelete;
      deletion.resource = &api::kEvents;
      std::tie(deletion.namespace_name, deletion.name) = seen->first;
      deletions.push_back(std::move(deletion));
      last_seen_.erase(seen);
    }
    lock.unlock();
    for (const auto& deleted : client_.Batch(deletions)) {
      if (!deleted) base::LogDebug("event not deleted: {}", deleted.error().message);
    }
    lock.lock();
  }
}

}  // namespace local::daemon
