// LogMerge: merges lines of several logs in the order of their times. Pure.
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

// Holds each line back for a moment, so that an older line of another log that comes a little later
// still goes first. Lines of one log keep their order.
class LogMerge {
 public:
  using Moment = std::chrono::steady_clock::time_point;

  static constexpr std::chrono::milliseconds kWindow{200};
  static constexpr size_t kMaxHeld = 64 << 20;  // bytes; beyond, the oldest do not wait

  struct Line {
    std::string instance;
    TimedLine line;
  };

  void Add(std::string instance, TimedLine line, Moment arrival);
  // The lines to print at `now`.
  std::vector<Line> Take(Moment now);
  // The rest.
  std::vector<Line> TakeAll();
  // When Take will return something; nullopt while no line is held.
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
