// Commands in messages: under the name by which the user called this program, and with the flags
// that lead to the same cluster.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

#include "arena/app/app.h"

namespace arena {

// The daemon writes "`muster data create ...`"; a user of the `arena` name is told `arena`.
inline std::string UseProgramName(const Context& context, std::string text) {
  constexpr std::string_view kCommand = "`muster ";
  const std::string command = fmt::format("`{} ", context.program);
  for (size_t at = text.find(kCommand); at != std::string::npos;
       at = text.find(kCommand, at + command.size())) {
    text.replace(at, kCommand.size(), command);
  }
  return text;
}

// " -n team --context prod": what the user gave, for a command that a message proposes. "" if
// nothing was given.
inline std::string FlagsOfPlace(const Context& context) {
  std::string flags;
  const GlobalFlags& given = context.flags;
  if (!given.namespace_name.empty()) flags += " -n " + given.namespace_name;
  if (!given.context.empty()) flags += " --context " + given.context;
  if (!given.KubeconfigPath().empty()) flags += " --kubeconfig " + given.KubeconfigPath();
  if (given.local) flags += " --local";
  return flags;
}

}  // namespace arena
