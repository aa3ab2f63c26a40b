// A log as its reader gets it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "answers/log/launcher_words.h"

namespace answers {

struct LogFile {
  std::string name;  // its path below the requested folder
  std::string_view text;
  // the rank to which these lines belong, if the job knows it
  std::optional<NodeRanks> ranks = std::nullopt;
  // the trial of a sweep to which lines are wanted ("lr=2 seed=1"); "" for the first failed one
  std::string trial{};
};

}  // namespace answers
