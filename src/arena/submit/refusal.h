// What submit's checks share: the refusal, and the characters that names are made of.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "base/environment.h"
#include "base/result.h"
#include "base/strings.h"

namespace arena {

inline base::Status Refuse(std::string message) {
  return base::Fail(base::Code::kInvalidArgument, std::move(message));
}

// ~/x is in the home folder, wherever the shell has left it as it was typed.
inline std::string AtHome(const std::string& typed, const base::Environment& environment) {
  return typed.starts_with("~/") ? environment.Home() + typed.substr(1) : typed;
}

// Arena ends on it by log.Fatal, where its other refusals are errors.
inline std::string UnknownSyncMode(std::string_view mode) {
  return "Unknown sync mode: " + std::string(mode);
}

}  // namespace arena
