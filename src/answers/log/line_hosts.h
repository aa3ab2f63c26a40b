// The hosts that pdsh, DeepSpeed's launcher and PALS put before lines, and CloudWatch's streams.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace answers {

// The host before a line, and the rank if the launcher adds it.
struct Host {
  std::string_view name;  // "" if there is none
  std::optional<int> rank;
  size_t size = 0;  // of both, and of the signs behind them
};

// Returns each line's host if most lines have one and the hosts repeat. Otherwise a line's stream
// of CloudWatch, behind the time that `aws logs tail` prints, if streams repeat: one whose last
// part is an ID ("train/pytorch/0a1b2c...") or, as SageMaker's, ends with a time
// ("job/algo-2-1746439871"). Pure.
std::vector<Host> FindHosts(const std::vector<std::string_view>& lines);

}  // namespace answers
