// Draws the screens of `watch`. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "cli/screen.h"
#include "watch/state.h"

namespace watch {

inline constexpr size_t kLeastWidth = 40;
inline constexpr size_t kLeastHeight = 8;

// Scrolls so that the selected row is visible.
cli::Screen Draw(State& state, size_t width, size_t height, base::Time now);
// How many rows of a list fit on a screen of that height.
size_t PageOf(size_t height);

// A curve in braille, with two values per column and four dots per row, the latest at the right:
// `rows` strings of at most `columns` characters, top row first. NaN and Inf leave gaps.
std::vector<std::string> Braille(const std::vector<double>& values, size_t columns, size_t rows);

// A block for each value, of eight heights; `full` and more is the highest, nullopt a blank.
std::string Spark(const std::vector<std::optional<double>>& values, double full = 1);

}  // namespace watch
