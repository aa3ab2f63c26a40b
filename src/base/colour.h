// Whether output to a terminal may be coloured.
#pragma once

namespace base {

// kAuto colours a terminal unless it is dumb (TERM), or NO_COLOR is set to a non-empty value.
enum class Colour { kAuto, kAlways, kNever };

// For the whole process; thread safe. kAuto at the start.
void SetColour(Colour colour);
bool HasColour(int fd);

}  // namespace base
