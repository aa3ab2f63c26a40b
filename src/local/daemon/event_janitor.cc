#include "local/daemon/event_janitor.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "api/object.h"
#include "api/resources.h"
#include "base/log.h"
#include "text/projection.h"

namespace local::daemon {
namespace {

// Deleted with one request.
constexpr size_t kMaxBatch = 256;
constexpr int64_t kPageEvents = 500;
// Between two rounds, and before the first.
constexpr std::chrono::minutes kRest{5};
constexpr std::chrono::minutes kFirst{1};

base::Time LastSeen(const text::Json& event, base::Time now) {
  if (const auto at = base::ParseRfc3339(text::GetString(event, {"lastTimestamp"}))) return *at;
  return api::CreationTime(event).value_or(now);
}

}  // namespace

base::Result<base::Time> DeleteOldEvents(cluster::Client& client, base::Time now) {
  base::Time next = now + kEventLife;
  std::vector<cluster::BatchWrite> due;
  cluster::ListOptions options;
  options.limit = kPageEvents;
  options.read_listed = [&](std::string_view text) -> base::Result<text::Json> {
    static const text::Projection kParts{{"metadata", "namespace"},
                                         {"metadata", "name"},
                                         {"metadata", "creationTimestamp"},
                                         {"lastTimestamp"}};
    TRY_ASSIGN(const text::Json event, text::ParsePart(text, kParts));
    const base::Time end = LastSeen(event, now) + kEventLife;
    if (end > now) {
      next = std::min(next, end);
      return text::Json(nullptr);
    }
    cluster::BatchWrite deletion;
    deletion.verb = cluster::BatchWrite::Verb::kDelete;
    deletion.resource = &api::kEvents;
    deletion.namespace_name = api::Namespace(event);
    deletion.name = api::Name(event);
    due.push_back(std::move(deletion));
    return text::Json(nullptr);
  };
  TRY(client.List(api::kEvents, options));
  for (size_t first = 0; first < due.size(); first += kMaxBatch) {
    const size_t last = std::min(first + kMaxBatch, due.size());
    const std::vector<cluster::BatchWrite> some(
        std::make_move_iterator(due.begin() + static_cast<std::ptrdiff_t>(first)),
        std::make_move_iterator(due.begin() + static_cast<std::ptrdiff_t>(last)));
    for (const auto& deleted : client.Batch(some)) {
      if (!deleted) base::LogDebug("event not deleted: {}", deleted.error().message);
    }
  }
  return next;
}

EventJanitor::EventJanitor(cluster::Client& client, base::Clock& clock)
    : client_(client), clock_(clock), thread_([this] { Run(); }) {}

EventJanitor::~EventJanitor() {
  {
    const std::lock_guard lock(mutex_);
    is_stopped_ = true;
    wake_.notify_one();
  }
  thread_.join();
}

void EventJanitor::Run() {
  base::Duration rest = kFirst;
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, rest, [this] { return is_stopped_; })) {
    lock.unlock();
    const auto next = DeleteOldEvents(client_, clock_.Now());
    if (!next) base::LogDebug("old events: {}", next.error().message);
    rest = std::max<base::Duration>(kRest, next ? *next - clock_.Now() : base::Duration::zero());
    lock.lock();
  }
}

}  // namespace local::daemon
