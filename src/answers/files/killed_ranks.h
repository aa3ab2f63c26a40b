// The ranks of killed processes, for the Sorter.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "answers/files/file.h"
#include "answers/log/launcher_words.h"

namespace answers {

// Finds the rank whose process the kernel has killed, by the PIDs in the launchers' messages of all
// files.
class KilledRanks {
 public:
  explicit KilledRanks(const std::vector<File>& files);
  std::optional<int> RankIn(std::string_view line) const;

 private:
  RanksOfPids ranks_;
};

}  // namespace answers
