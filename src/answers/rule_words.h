// Which rule knows the words of an exception that do not stand in a traceback. Pure; nullptr where
// none does.
#pragma once

#include <string_view>

#include "answers/rule.h"

namespace answers {

// By the first exception that a line names, or by the whole line.
const Rule* RuleForWords(std::string_view text);

// By a message without the type of its exception: as if each usual one stood before it.
const Rule* RuleForBare(std::string_view text);

// By a line of a program that is a value in somebody's JSON.
const Rule* RuleForEscaped(std::string_view text);

}  // namespace answers
