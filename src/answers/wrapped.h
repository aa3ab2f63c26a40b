// Messages that a terminal's width has broken.
#pragma once

#include <span>
#include <string>

#include "answers/evidence.h"

namespace answers {

// The message that begins in line `first`, if rich or textwrap broke it into at least three lines:
// each is as long as the next line's first word allows. "" otherwise. Pure.
std::string WrappedMessage(std::span<const Line> lines, size_t first);

}  // namespace answers
