#include <algorithm>
#include <cmath>

#include "watch/draw.h"

namespace watch {
namespace {

constexpr size_t kDotsOfAColumn = 2;
constexpr size_t kDotsOfARow = 4;

// Bits of the dots of a braille pattern, by column and from the top.
constexpr unsigned kBits[kDotsOfAColumn][kDotsOfARow] = {{0x01, 0x02, 0x04, 0x40},
                                                         {0x08, 0x10, 0x20, 0x80}};

std::string Glyph(unsigned bits) {
  std::string text = "\xe2";
  text += static_cast<char>(0xa0 | (bits >> 6));
  text += static_cast<char>(0x80 | (bits & 0x3f));
  return text;
}

// Values for that many dots: each dot is the mean of equally many neighbours; if there are fewer
// values, lines join them.
std::vector<double> Spread(const std::vector<double>& values, size_t count) {
  if (values.size() < 2 || values.size() == count) return values;
  if (values.size() < count) {
    std::vector<double> joined(count);
    const double step = static_cast<double>(values.size() - 1) / static_cast<double>(count - 1);
    for (size_t i = 0; i < count; ++i) {
      const double at = step * static_cast<double>(i);
      const auto left = std::min(static_cast<size_t>(at), values.size() - 2);
      joined[i] = std::lerp(values[left], values[left + 1], at - static_cast<double>(left));
    }
    return joined;
  }
  std::vector<double> thinned(count, 0);
  for (size_t i = 0; i < count; ++i) {
    const size_t begin = i * values.size() / count;
    const size_t end = (i + 1) * values.size() / count;
    for (size_t at = begin; at < end; ++at) thinned[i] += values[at];
    thinned[i] /= static_cast<double>(end - begin);
  }
  return thinned;
}

}  // namespace

std::string Spark(const std::vector<std::optional<double>>& values, double full) {
  constexpr double kHeights = 8;
  std::string text;
  for (const std::optional<double>& value : values) {
    if (!value || !std::isfinite(*value)) {
      text += ' ';
      continue;
    }
    const double height = std::ceil(kHeights * std::clamp(*value / full, 0.0, 1.0));
    text += "\xe2\x96";  // U+2581 to U+2588
    text += static_cast<char>(0x80 + static_cast<int>(std::max(height, 1.0)));
  }
  return text;
}

std::vector<std::string> Braille(const std::vector<double>& values, size_t columns, size_t rows) {
  const std::vector<double> shown = Spread(values, columns * kDotsOfAColumn);
  double lowest = HUGE_VAL, highest = -HUGE_VAL;
  for (const double value : shown) {
    if (!std::isfinite(value)) continue;
    lowest = std::min(lowest, value);
    highest = std::max(highest, value);
  }
  const size_t width = (shown.size() + kDotsOfAColumn - 1) / kDotsOfAColumn;
  std::vector<std::vector<unsigned>> bits(rows, std::vector<unsigned>(width, 0));
  const auto dots = static_cast<double>(rows * kDotsOfARow - 1);
  for (size_t i = 0; i < shown.size(); ++i) {
    if (!std::isfinite(shown[i])) continue;
    const double part = highest > lowest ? (shown[i] - lowest) / (highest - lowest) : 0.5;
    const auto from_top = static_cast<size_t>(std::lround((1 - part) * dots));
    bits[from_top / kDotsOfARow][i / kDotsOfAColumn] |=
        kBits[i % kDotsOfAColumn][from_top % kDotsOfARow];
  }
  std::vector<std::string> lines;
  for (const auto& row : bits) {
    std::string& line = lines.emplace_back();
    for (const unsigned glyph : row) line += Glyph(glyph);
  }
  return lines;
}

}  // namespace watch
