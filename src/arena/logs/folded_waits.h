// What the instances of a job wait for, in as few lines as they have reasons. Pure.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace arena {

class FoldedWaits {
 public:
  using Moment = std::chrono::steady_clock::time_point;
  // How long the others may take to report the same.
  static constexpr std::chrono::milliseconds kWindow{500};

  // What the instance waits for from now on; "" once it has started, and then a wait that has not
  // been reported yet is dropped.
  void Set(const std::string& instance, const std::string& why, Moment now);
  // When there is something to Take; nullopt if nothing is new.
  std::optional<Moment> NextAt() const;
  // A line for each reason whose time has come: "waiting for instance a to start: why", "waiting
  // for 9 instances to start (a, b, c, ...): why".
  std::vector<std::string> Take(Moment now);

 private:
  struct Wait {
    std::vector<std::string> instances;
    Moment since;
  };
  std::map<std::string, Wait> waits_;  // not reported yet, by reason
};

}  // namespace arena
