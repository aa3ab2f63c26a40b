// Which commands are no more than `python ...`, and what stands in for them with warm starts.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace local::node {

// The command with `stand_in` before its python, where it is python ... itself, or a shell's -c
// whose only command, and a simple one (no operator, no command substitution), is that; assignments
// and exec may stand before it. Nullopt for every other command. What python is to do is looked at
// when it starts.
std::optional<std::vector<std::string>> WarmCommand(const std::vector<std::string>& argv,
                                                    const std::string& stand_in);

}  // namespace local::node
