#include "arena/logs/log_merge.h"

namespace arena {

void LogMerge::Add(std::string instance, TimedLine line, Moment arrival) {
  held_ += line.text.size();
  std::pair key(line.time, next_++);
  lines_.emplace(std::move(key), Held{{std::move(instance), std::move(line)}, arrival});
}

void LogMerge::PopTo(std::vector<Line>& out) {
  const auto first = lines_.begin();
  held_ -= first->second.line.line.text.size();
  out.push_back(std::move(first->second.line));
  lines_.erase(first);
}

std::vector<LogMerge::Line> LogMerge::Take(Moment now) {
  std::vector<Line> out;
  while (!lines_.empty() && (held_ > kMaxHeld || lines_.begin()->second.arrival + kWindow <= now)) {
    PopTo(out);
  }
  return out;
}

std::vector<LogMerge::Line> LogMerge::TakeAll() {
  std::vector<Line> out;
  while (!lines_.empty()) PopTo(out);
  return out;
}

std::optional<LogMerge::Moment> LogMerge::NextAt() const {
  if (lines_.empty()) return std::nullopt;
  return lines_.begin()->second.arrival + kWindow;
}

}  // namespace arena
