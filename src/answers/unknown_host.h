// A client that cannot resolve a name says so, and later that it did not reach it.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "answers/evidence.h"

namespace answers {

// For lines among which `unreached` says that nobody answered: the index of the first that says
// that the name of the same host is not known. Nullopt where none does, or where a later line shows
// that the name was found after all. Pure.
std::optional<size_t> LineOfUnknownHost(std::span<const Line> lines, std::string_view unreached);

}  // namespace answers
