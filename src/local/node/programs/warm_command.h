// Recognizes commands that are only `python ...`, and replaces them for warm starts.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace local::node {

// The command with `stand_in` before its python, if it is python ... itself, or a shell's -c whose
// only command is that, without operators or command substitutions; assignments and exec may
// precede it. Nullopt for every other command. Python's arguments are examined when it starts.
std::optional<std::vector<std::string>> WarmCommand(const std::vector<std::string>& argv,
                                                    const std::string& stand_in);

}  // namespace local::node
