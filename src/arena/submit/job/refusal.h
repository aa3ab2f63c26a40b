// Shared by submit's checks: the refusal, and the characters of names.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "base/environment.h"
#include "base/result.h"
#include "base/strings.h"

namespace arena {

// What errors about a submission's values begin with (compat/arena.md 2.2).
inline constexpr std::string_view kRefused = "failed to validate command args";

inline base::Status Refuse(std::string message) {
  return base::Fail(base::Code::kInvalidArgument, std::move(message));
}

// Replaces ~/ by the home folder, for words that the shell has not expanded.
inline std::string AtHome(const std::string& typed, const base::Environment& environment) {
  return typed.starts_with("~/") ? environment.Home() + typed.substr(1) : typed;
}

// Arena ends by log.Fatal here; its other refusals are errors.
inline std::string UnknownSyncMode(std::string_view mode) {
  return "Unknown sync mode: " + std::string(mode);
}

}  // namespace arena
