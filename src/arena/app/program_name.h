// The embedded cluster's messages, under the name by which the user called this program.
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

}  // namespace arena
