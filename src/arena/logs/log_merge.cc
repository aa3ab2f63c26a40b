#include "arena/logs/log_merge.h"

namespace arena {

void LogMerge::Add(std::string time, std::string line, Moment arrival) {
  held_ += line.size();
  lines_.emplace(std::pair(std::move(time), next_++), Line{std::move(line), arrival});
}

void LogMerge::PopTo(std::string& out) {
  const auto first = lines_.begin();
  held_ -= first->second.text.size();
  out += first->second.text;
  lines_.erase(first);
}

std::string LogMerge::Take(Moment now) {
  std::string out;
  while (!lines_.empty() && (held_ > kMaxHeld || lines_.begin()->second.arrival + kWindow <= now)) {
    PopTo(out);
  }
  return out;
}

std::string LogMerge::TakeAll() {
  std::string out;
  while (!lines_.empty()) PopTo(out);
  return out;
}

std::optional<LogMerge::Moment> LogMerge::NextAt() const {
  if (lines_.empty()) return std::nullopt;
  return lines_.begin()->second.arrival + kWindow;
}

}  // namespace arena
