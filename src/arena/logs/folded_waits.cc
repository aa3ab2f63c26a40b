#include "arena/logs/folded_waits.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/strings.h"

namespace arena {
namespace {

constexpr size_t kNamedInstances = 3;

std::string Waiters(std::vector<std::string> instances) {
  if (instances.size() == 1) return fmt::format("instance {} to start", instances.front());
  const size_t count = instances.size();
  std::sort(instances.begin(), instances.end());
  instances.resize(std::min(count, kNamedInstances));
  return fmt::format("{} instances to start ({}{})", count, base::Join(instances, ", "),
                     count > kNamedInstances ? ", ..." : "");
}

}  // namespace

void FoldedWaits::Set(const std::string& instance, const std::string& why, Moment now) {
  for (auto wait = waits_.begin(); wait != waits_.end();) {
    std::erase(wait->second.instances, instance);
    wait = wait->second.instances.empty() ? waits_.erase(wait) : std::next(wait);
  }
  if (why.empty()) return;
  waits_.try_emplace(why, Wait{{}, now}).first->second.instances.push_back(instance);
}

std::optional<FoldedWaits::Moment> FoldedWaits::NextAt() const {
  std::optional<Moment> next;
  for (const auto& [why, wait] : waits_) {
    if (!next || wait.since + kWindow < *next) next = wait.since + kWindow;
  }
  return next;
}

std::vector<std::string> FoldedWaits::Take(Moment now) {
  std::vector<std::string> lines;
  for (auto wait = waits_.begin(); wait != waits_.end();) {
    if (wait->second.since + kWindow > now) {
      ++wait;
      continue;
    }
    lines.push_back(
        fmt::format("waiting for {}: {}", Waiters(std::move(wait->second.instances)), wait->first));
    wait = waits_.erase(wait);
  }
  return lines;
}

}  // namespace arena
