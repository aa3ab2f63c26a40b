// Which rule knows the words of an exception that do not stand in a traceback. Pure; nullptr where
// none does.
#pragma once

#include <string_view>

#include "answers/rule.h"

namespace answers {

// The rule for the first exception in a line that a rule knows, otherwise for the whole line.
const Rule* RuleForWords(std::string_view text);

// The rule for a message without its exception's type: tries the usual types before it.
const Rule* RuleForBare(std::string_view text);

// The rule for a line of a program that is a value in somebody's JSON.
const Rule* RuleForEscaped(std::string_view text);

}  // namespace answers
