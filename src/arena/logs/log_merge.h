// LogMerge: lines of several logs to one, in the order of their times. Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "arena/logs/log_lines.h"

namespace arena {

// A line is held back for a moment, so that one of another log which is older and comes a little
// later still goes before it. Lines of one log keep their order.
class LogMerge {
 public:
  using Moment = std::chrono::steady_clock::time_point;

  static constexpr std::chrono::milliseconds kWindow{200};
  static constexpr size_t kMaxHeld = 64 << 20;  // bytes; past it the oldest go at once

  struct Line {
    std::string instance;
    TimedLine line;
  };

  void Add(std::string instance, TimedLine line, Moment arrival);
  // What may be printed at `now`.
  std::vector<Line> Take(Moment now);
  // The rest.
  std::vector<Line> TakeAll();
  // When Take will have something; nothing while no line is held.
  std::optional<Moment> NextAt() const;

 private:
  struct Held {
    Line line;
    Moment arrival;
  };
  void PopTo(std::vector<Line>& out);

  std::map<std::pair<std::string, uint64_t>, Held> lines_;  // by time, then arrival
  uint64_t next_ = 0;
  size_t held_ = 0;
};

}  // namespace arena
