#include "answers/loss_watch.h"

#include <algorithm>
#include <array>

#include "base/strings.h"

namespace answers {
namespace {

constexpr size_t kLongestWatched = 64 << 10;

// A cheap check before a closer look: most output contains none of these words.
bool MayBeLost(std::string_view text) {
  constexpr std::array<std::string_view, 6> kWords = {"nan", "NaN", "NAN", "inf", "Inf", "INF"};
  return std::any_of(kWords.begin(), kWords.end(), [text](std::string_view word) {
    return text.find(word) != std::string_view::npos;
  });
}

void Skip(std::string_view& text, std::string_view characters) {
  text.remove_prefix(std::min(text.find_first_not_of(characters), text.size()));
}

// Reads, in lower case, what follows "loss": the rest of the name, a mark, and the number.
bool IsLost(std::string_view text) {
  constexpr std::string_view kNames = "abcdefghijklmnopqrstuvwxyz0123456789_-/.";
  Skip(text, kNames);
  Skip(text, "'\" \t");
  if (text.starts_with('=') || text.starts_with(':')) text.remove_prefix(1);
  Skip(text, "'\" \t");
  if (text.starts_with("tensor(")) text.remove_prefix(7);
  Skip(text, "+-");
  for (const std::string_view word : {"nan", "infinity", "inf"}) {
    if (!text.starts_with(word)) continue;
    return text.size() == word.size() || kNames.find(text[word.size()]) == std::string_view::npos;
  }
  return false;
}

// Reads, in lower case, what precedes "loss": before the first loss, the best one so far is
// infinite.
bool IsOfTheBest(std::string_view before) {
  constexpr size_t kNear = 12;
  before = before.substr(before.size() - std::min(before.size(), kNear));
  return before.find("best") != std::string_view::npos || before.ends_with("min_") ||
         before.ends_with("min ") || before.ends_with("lowest ") || before.ends_with("lowest_");
}

}  // namespace

bool HasLostLoss(std::string_view line) {
  if (!MayBeLost(line) || line.size() > kLongestWatched) return false;
  const std::string lower = base::ToLower(line);
  constexpr std::string_view kName = "loss";
  for (size_t at = lower.find(kName); at != std::string::npos; at = lower.find(kName, at + 1)) {
    if (IsOfTheBest(std::string_view(lower).substr(0, at))) continue;
    if (IsLost(std::string_view(lower).substr(at + kName.size()))) return true;
  }
  return false;
}

std::optional<std::string> LossWatch::Add(std::string_view bytes) {
  std::optional<std::string> found;
  // Most output contains no such word: then only the last, unfinished line is kept.
  if (const size_t last = bytes.find_last_of("\r\n");
      last != std::string_view::npos && held_.empty() && !MayBeLost(bytes)) {
    bytes.remove_prefix(last + 1);
  }
  for (size_t end; (end = bytes.find_first_of("\r\n")) != std::string_view::npos;
       bytes.remove_prefix(end + 1)) {
    if (held_.size() < kLongestWatched) held_ += bytes.substr(0, end);
    if (!found && HasLostLoss(held_)) found = held_;
    held_.clear();
  }
  if (held_.size() < kLongestWatched) held_ += bytes;
  return found;
}

}  // namespace answers
