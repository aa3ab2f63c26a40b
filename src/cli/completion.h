// The `completion` command: scripts for shells that call `<program> __complete`.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cli/command.h"

namespace cli {

void AddCompletionCommand(Command& root);

// For bash, zsh or fish; nullopt for other shells.
std::optional<std::string> CompletionScript(std::string_view shell, const std::string& program);

}  // namespace cli
