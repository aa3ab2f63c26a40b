// The hosts that pdsh, DeepSpeed's launcher and PALS put before lines.
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

// Returns each line's host if most lines have one and the hosts repeat. Pure.
std::vector<Host> FindHosts(const std::vector<std::string_view>& lines);

}  // namespace answers
