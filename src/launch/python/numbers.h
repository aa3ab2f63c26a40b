// Numbers as Python's int() and float() read them, which torchrun's flags go through.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace launch {

// " +1_000 " is 1000. Values out of range become the largest or smallest int64_t: Python's integers
// have no limit, and nobody needs more.
std::optional<int64_t> ParsePythonInt(std::string_view text);

// "1e-3", ".5", "1_0.5", "inf"; what is too large or too small is infinite or 0.
std::optional<double> ParsePythonFloat(std::string_view text);

}  // namespace launch
