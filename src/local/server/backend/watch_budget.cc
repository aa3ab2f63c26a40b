#include "local/server/backend/watch_budget.h"

#include <algorithm>
#include <utility>

namespace local::server {

void WatchBudget::Add(std::weak_ptr<Stream> stream) {
  const std::lock_guard lock(mutex_);
  // Whenever the vector is full: drops streams that no longer exist.
  if (streams_.size() == streams_.capacity()) {
    std::erase_if(streams_, [](const auto& other) { return other.expired(); });
  }
  streams_.push_back(std::move(stream));
}

std::vector<std::shared_ptr<WatchBudget::Stream>> WatchBudget::Living() {
  std::vector<std::shared_ptr<Stream>> living;
  const std::lock_guard lock(mutex_);
  for (const auto& stream : streams_) {
    if (auto alive = stream.lock()) living.push_back(std::move(alive));
  }
  return living;
}

void WatchBudget::Count(size_t bytes) {
  const size_t before = since_.fetch_add(bytes);
  if (before / kWatchBudgetStep == (before + bytes) / kWatchBudgetStep) return;
  std::vector<std::pair<size_t, std::shared_ptr<Stream>>> pending;
  size_t all = 0;
  for (auto& stream : Living()) {
    const size_t waiting = stream->PendingBytes();
    all += waiting;
    if (waiting > 0) pending.emplace_back(waiting, std::move(stream));
  }
  if (all <= kMaxUnreadWatchBytes) return;
  std::sort(pending.begin(), pending.end(),
            [](const auto& a, const auto& b) { return a.first > b.first; });
  for (const auto& [waiting, stream] : pending) {
    if (all <= kMaxUnreadWatchBytes) return;
    stream->PutOut();
    all -= waiting;
  }
}

}  // namespace local::server
