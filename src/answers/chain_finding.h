// What a chain of exceptions decides: which of them is the cause, and what a rule says of it.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "answers/finding.h"

namespace answers {

struct ChainFinding {
  Finding finding;                   // without its time and place, and without words
  const Raised* deciding = nullptr;  // the exception that decides; of the chain
  bool is_by_words = false;          // a rule knows only some of its words (Rule::words)
};
// Nullopt if the chain only says that another process has failed. Pure.
std::optional<ChainFinding> FindInChain(const Chain& chain);

// The rule for the place where it was raised, otherwise for its text; nullptr when there is none.
const Rule* RuleFor(const Raised& raised);

// The finding for an exception that no rule knows.
Finding OwnException();

// The message that begins in line `first`, if rich, textwrap or a terminal broke it into at least
// three lines, or two if the second begins in small letters: each is as long as the next line's
// first word allows. "" otherwise. `between` is what the break has replaced: " ", or "" by a
// terminal. Pure.
std::string WrappedMessage(std::span<const Line> lines, size_t first, std::string_view between);

}  // namespace answers
