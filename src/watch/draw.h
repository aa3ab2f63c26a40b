// What `watch` looks like. Pure.
#pragma once

#include <string>
#include <vector>

#include "base/clock.h"
#include "cli/screen.h"
#include "watch/state.h"

namespace watch {

inline constexpr size_t kLeastWidth = 40;
inline constexpr size_t kLeastHeight = 8;

// Moves what is shown so that the selected row is among it.
cli::Screen Draw(State& state, size_t width, size_t height, base::Time now);
// Rows that a list has on a screen of that height.
size_t PageOf(size_t height);

// A curve in braille, two values a column and four dots a row, the last at the right: `rows`
// strings of at most `columns` characters, the highest first. What is not finite is a gap.
std::vector<std::string> Braille(const std::vector<double>& values, size_t columns, size_t rows);

}  // namespace watch
