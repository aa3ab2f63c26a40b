#include "api/rank_label.h"

#include <algorithm>
#include <array>

#include "base/strings.h"

namespace api {
namespace {

constexpr size_t kMostDigits = 6;

std::optional<int> NumberIn(std::string_view text) {
  const auto number = base::ParseInt(text);
  if (!number || *number < 0 || text.size() > kMostDigits) return std::nullopt;
  return static_cast<int>(*number);
}

}  // namespace

std::optional<RankLabel> ReadRankLabel(std::string_view line) {
  constexpr std::string_view kRank = "[rank";
  constexpr std::array<std::string_view, 2> kLocal = {"[local-rank", "[default"};
  RankLabel label;
  size_t begin = line.starts_with(kRank) ? kRank.size() : 0;
  for (const std::string_view local : kLocal) {
    if (!line.starts_with(local)) continue;
    label.is_local = true;
    begin = local.size();
  }
  const size_t end = line.find(']');
  if (begin == 0 || end == std::string_view::npos) return std::nullopt;
  const auto number = NumberIn(line.substr(begin, end - begin));
  if (!number) return std::nullopt;
  label.number = *number;
  label.name = line.substr(1, end - 1);
  label.text = line.substr(end + 1);
  const bool is_torchs = line.starts_with(kLocal.back());  // "[default0]:"
  if (label.text.find_first_of(is_torchs ? ":" : ":> ") != 0) return std::nullopt;
  label.is_bar = label.text.front() == '>';
  if (label.text.front() != ' ') label.text.remove_prefix(1);
  // PyTorch's label ends with a blank, a launcher's does not, and the text itself may be indented,
  // which Python does by an even number.
  const size_t blanks = std::min(label.text.find_first_not_of(' '), label.text.size());
  label.text.remove_prefix(blanks % 2);
  return label;
}

}  // namespace api
