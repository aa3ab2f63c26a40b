// What the embedded cluster advises, for whoever calls this program by another name.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

#include "arena/app/app.h"

namespace arena {

// The cluster knows the program as muster: "`muster data create ...` makes one".
inline std::string InProgramsName(const Context& context, std::string text) {
  constexpr std::string_view kCommand = "`muster ";
  const std::string command = fmt::format("`{} ", context.program);
  for (size_t at = text.find(kCommand); at != std::string::npos;
       at = text.find(kCommand, at + command.size())) {
    text.replace(at, kCommand.size(), command);
  }
  return text;
}

}  // namespace arena
