// Texts in which somebody has joined several logs.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace answers {

inline constexpr size_t kMostSections = 4096;

struct Section {
  std::string name;  // "" of what stands before the first one
  std::string text;
};

// The logs below "==> rank_1.log <==" (tail), ":::::::" (more), and headings of ranks or files that
// differ only in their numbers: "### rank_1.log", "===== rank 1 =====", "**Rank 1**"; and the lines
// that grep has marked with their file, "rank_1.log:12:text". Parts of one name are joined. Empty
// for one log. Pure.
std::vector<Section> SplitSections(std::string_view text);

}  // namespace answers
