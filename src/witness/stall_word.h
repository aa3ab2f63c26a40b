// The word of a launcher on what stalls its ranks, for the daemon of the embedded cluster: two that
// ask the same ranks for their stacks disturb each other. The launcher keeps <folder>/stall-PID,
// where PID is that of its first rank: JSON, "{}" while nothing stalls. `folder`: stacks.h.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>

#include "answers/stall/stall.h"
#include "base/clock.h"

namespace witness {

struct StallWord {
  std::optional<answers::Stall> stall;
};

std::string FormatStallWord(const StallWord& word);
// Nullopt for any text that FormatStallWord cannot have made by `now`: a program may write anything
// there. Pure.
std::optional<StallWord> ParseStallWord(std::string_view text,
                                        std::chrono::steady_clock::time_point now);

// Keeps the file until it is destroyed. One thread.
class StallTeller {
 public:
  StallTeller(std::string folder, pid_t first_rank);
  ~StallTeller();
  StallTeller(const StallTeller&) = delete;
  StallTeller& operator=(const StallTeller&) = delete;

  // Call it at every look at the ranks: a word that is not repeated becomes stale. Best effort.
  void Tell(const StallWord& word);

 private:
  const std::string folder_, path_;
  std::string told_;
};

// Nullopt if no launcher has this first rank, or it has said nothing for some seconds.
std::optional<StallWord> HearStall(const std::string& folder, pid_t first_rank, base::Clock& clock);

}  // namespace witness
