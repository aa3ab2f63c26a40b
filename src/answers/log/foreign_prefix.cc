#include "answers/log/foreign_prefix.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "answers/has_any.h"
#include "answers/rank_number.h"
#include "answers/traceback.h"
#include "base/strings.h"

namespace answers {
namespace {

constexpr size_t kMostBefore = 160;
constexpr size_t kMostShapes = 64;
constexpr size_t kLookAhead = 40;
constexpr std::string_view kFrame = "  File \"";
constexpr std::string_view kTable = "Root Cause (first observed failure):";  // of torchrun
constexpr std::string_view kRow = "[0]:";
constexpr std::string_view kNumerals = "0123456789";

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// Returns the length of the beginning of `text` that differs from `shape` only in its numbers; 0 if
// there is none.
size_t SizeOfShape(std::string_view text, std::string_view shape) {
  size_t at = 0;
  for (size_t i = 0; i < shape.size();) {
    if (!base::IsDigit(shape[i])) {
      if (at >= text.size() || text[at] != shape[i]) return 0;
      ++at;
      ++i;
      continue;
    }
    const size_t begin = at;
    while (at < text.size() && base::IsDigit(text[at])) ++at;
    while (i < shape.size() && base::IsDigit(shape[i])) ++i;
    if (at == begin) return 0;
  }
  return at;
}

// Other text than a prefix may stand before these words: Python's indentation, and words of
// torchrun's table and of data loaders.
bool MayBePrefix(std::string_view before) {
  return !before.empty() && before.size() <= kMostBefore &&
         before.find_first_not_of(" \t|>") != std::string_view::npos &&
         before.find("traceback : ") == std::string_view::npos && !before.ends_with("Original ") &&
         before.find_first_of("\"\\") == std::string_view::npos;
}

// Returns the text before the known words of a line.
std::string_view PrefixOf(std::string_view line) {
  for (const std::string_view words : {kTracebackHeader, kFrame, kTable}) {
    const size_t at = line.find(words);
    if (at == std::string_view::npos) continue;
    const std::string_view before = line.substr(0, at);
    return MayBePrefix(before) ? before : "";
  }
  return "";
}

// Whether a line below continues the traceback after the same prefix.
bool ComesAgain(const std::vector<std::string_view>& lines, size_t from, std::string_view prefix) {
  const size_t end = std::min(lines.size(), from + kLookAhead);
  const std::string_view first = lines[from].substr(prefix.size());
  const bool is_header = first.starts_with(kTracebackHeader);
  for (size_t i = from + 1; i < end; ++i) {
    const size_t size = SizeOfShape(lines[i], prefix);
    if (size == 0) continue;
    const std::string_view rest = lines[i].substr(size);
    if (first.starts_with(kTable) && rest.starts_with(kRow)) return true;
    if (rest.starts_with(kFrame) || (!is_header && rest.starts_with("    "))) return true;
  }
  return false;
}

// Whether the word before "rank" says that it is a process', which it may also be of a field.
bool IsOfProcess(std::string_view before) {
  before = before.substr(0, before.find_last_not_of(" -_") + 1);
  return before.ends_with("local") || before.ends_with("worker");
}

// Reads "rank: 3" and "[rank3]", but not "node rank 3", or, with `needs_sign`, "trainer/3".
std::optional<int> NumberBehind(std::string_view lower, std::string_view word, bool needs_sign) {
  constexpr std::string_view kSigns = "-/|_: =[#";
  for (size_t at = lower.find(word); at != std::string_view::npos; at = lower.find(word, at + 1)) {
    const size_t begin = at + word.size();
    const size_t digit = lower.find_first_not_of(kSigns, begin);
    const bool is_near = digit != std::string_view::npos && digit <= begin + 3 &&
                         (digit > begin || !needs_sign) && base::IsDigit(lower[digit]);
    const std::string_view before = lower.substr(0, at);
    const bool is_other = word == "rank" && IsOfOtherRank(before) && !IsOfProcess(before);
    if (!is_near || is_other) continue;
    const size_t end = std::min(lower.find_first_not_of(kNumerals, digit), lower.size());
    return RankNumber(lower.substr(digit, end - digit));
  }
  return std::nullopt;
}

// Reads "gpu 3", "gpu: 3" and "cuda:3", but not "gpu-3", which may be a host's name.
std::optional<int> DeviceIn(std::string_view lower) {
  constexpr size_t kMostDigits = 2;
  for (const std::string_view word : {"gpu", "cuda", "device"}) {
    const size_t at = lower.find(word);
    if (at == lower.npos || (at > 0 && IsLetter(lower[at - 1]))) continue;
    std::string_view rest = lower.substr(at + word.size());
    const size_t digit = std::min(rest.find_first_not_of(" :=#"), rest.size());
    const size_t end = std::min(rest.find_first_not_of(kNumerals, digit), rest.size());
    const bool is_number = digit > 0 && digit < 3 && end > digit && end - digit <= kMostDigits;
    const bool is_alone = end == rest.size() || !(IsLetter(rest[end]) || rest[end] == '.');
    if (is_number && is_alone) return RankNumber(rest.substr(digit, end - digit));
  }
  return std::nullopt;
}

// Whether the word names a place where a program's logger was called: "fake_tensor.py:2908]".
bool IsPlaceInCode(std::string_view word) {
  static constexpr auto kFiles = std::to_array<std::string_view>({".py:", ".cpp:", ".cc:", ".cu:"});
  return HasAny(word, kFiles);
}

// Keeps the words with more letters than digits.
std::string SourceOf(std::string_view prefix) {
  std::string source;
  for (const std::string& word : base::Split(prefix, ' ')) {
    const auto letters = std::count_if(word.begin(), word.end(), IsLetter);
    const auto digits = std::count_if(word.begin(), word.end(), base::IsDigit);
    const size_t begin = word.find_first_not_of("[](){}<>|:,;");
    if (letters <= digits || begin == std::string::npos || IsPlaceInCode(word)) continue;
    const size_t end = word.find_last_not_of("[](){}<>|:,;") + 1;
    source += (source.empty() ? "" : " ") + word.substr(begin, end - begin);
  }
  return source;
}

// What names the process besides the word with the number.
std::string SourceWithout(std::string_view prefix, const ProcessSlot& slot) {
  const size_t begin = prefix.substr(0, slot.begin).rfind(' ') + 1;  // 0 if there is none
  const size_t end = std::min(prefix.find(' ', slot.end), prefix.size());
  return SourceOf(std::string(prefix.substr(0, begin)).append(prefix.substr(end)));
}

// Names the ranks of the lines whose prefixes have one shape.
void NameShape(const std::vector<std::string_view>& lines, const std::vector<size_t>& of_shape,
               std::vector<ForeignPrefix>& found) {
  NumbersInPlace all;
  bool is_named = true, are_ranks = true, has_total = false;
  for (const size_t i : of_shape) {
    if (found[i].rank || found[i].local_rank) return;
    const auto slot = FindProcessSlot(lines[i].substr(0, found[i].size));
    if (!slot) return;
    all.Add(slot->number);
    const bool may_be_host = slot->begin > 0 && IsLetter(lines[i][slot->begin - 1]);  // "gpu1"
    is_named = is_named && slot->kind != ProcessNumber::kUnnamed && !may_be_host;
    are_ranks = are_ranks && slot->kind == ProcessNumber::kRank;
    has_total =
        has_total || lines[i].substr(slot->end).starts_with('/');  // "[3/8]" may be progress
  }
  const bool has_first = all.numbers().contains(0);  // "[P=71]" and "[P=72]" are PIDs
  const bool is_repeated = has_first && all.lines() >= 2 * all.numbers().size();
  if (all.numbers().size() < 2 || !(has_first || are_ranks)) return;
  const bool are_near = static_cast<size_t>(*all.numbers().rbegin()) < 2 * all.numbers().size();
  const bool is_counter = all.MayBeCounter() && (has_total || !are_near);
  if (!is_named && (!is_repeated || is_counter)) return;
  for (const size_t i : of_shape) {
    const std::string_view prefix = lines[i].substr(0, found[i].size);
    const ProcessSlot slot = *FindProcessSlot(prefix);
    (slot.kind == ProcessNumber::kLocalRank ? found[i].local_rank : found[i].rank) = slot.number;
    found[i].source = SourceWithout(prefix, slot);
  }
}

ForeignPrefix Describe(std::string_view prefix) {
  ForeignPrefix found;
  found.size = prefix.size();
  const std::string lower = base::ToLower(prefix);
  const bool is_local = lower.find("local") != std::string::npos;
  (is_local ? found.local_rank : found.rank) = NumberBehind(lower, "rank", false);
  for (const std::string_view role : {"trainer", "process", "proc", "task"}) {
    if (!found.rank && !found.local_rank) found.local_rank = NumberBehind(lower, role, true);
  }
  if (!found.rank && !found.local_rank) found.local_rank = DeviceIn(lower);
  const bool has_rank = found.rank || found.local_rank;
  const auto slot = has_rank ? FindProcessSlot(prefix) : std::nullopt;
  found.source = slot ? SourceWithout(prefix, *slot) : SourceOf(prefix);
  return found;
}

}  // namespace

ProcessNumber WhatNumberIs(std::string_view before) {
  static constexpr auto kRanks = std::to_array<std::string_view>(
      {"rank", "r", "rk", "ddp", "global_rank", "globalrank", "grank"});
  static constexpr auto kLocalRanks = std::to_array<std::string_view>(
      {"gpu", "cuda", "device", "process", "proc", "p", "worker", "trainer", "task", "local_rank",
       "localrank", "local-rank", "local rank"});
  if (before.empty() || before.ends_with("| ")) return ProcessNumber::kUnnamed;
  if (std::string_view("[(<#{").find(before.back()) != std::string_view::npos &&
      (before.size() == 1 || !IsLetter(before[before.size() - 2]))) {
    return ProcessNumber::kUnnamed;
  }
  const std::string lower =
      base::ToLower(before.substr(0, before.find_last_not_of(" =:[-_/#") + 1));
  const auto ends_with = [&lower](std::string_view word) {
    const size_t at = lower.size() - std::min(word.size(), lower.size());
    return lower.ends_with(word) &&
           (at == 0 ||
            std::string_view(" [(<|{.,:@=\"").find(lower[at - 1]) != std::string_view::npos);
  };
  const bool may_be_host = before.ends_with('-') || before.ends_with('_');  // "gpu-1"
  if (!may_be_host && std::any_of(kLocalRanks.begin(), kLocalRanks.end(), ends_with)) {
    return ProcessNumber::kLocalRank;
  }
  if (!std::any_of(kRanks.begin(), kRanks.end(), ends_with)) return ProcessNumber::kOther;
  constexpr std::string_view kRank = "rank";
  const bool is_other = lower.ends_with(kRank) && IsOfOtherRank(std::string_view(lower).substr(
                                                      0, lower.size() - kRank.size()));
  return is_other ? ProcessNumber::kOther : ProcessNumber::kRank;
}

std::optional<ProcessSlot> FindProcessSlot(std::string_view text, size_t begin) {
  constexpr int kMost = 1023;  // a larger number is a process' own
  constexpr std::string_view kBehind = " ])>|:/,}";
  for (size_t at = text.find_first_of(kNumerals, begin); at != text.npos;) {
    const size_t end = std::min(text.find_first_not_of(kNumerals, at), text.size());
    const auto number = RankNumber(text.substr(at, end - at));
    const ProcessNumber kind = WhatNumberIs(text.substr(0, at));
    const bool is_end = end == text.size() || kBehind.find(text[end]) != kBehind.npos;
    const bool is_clock =
        text.substr(end, 1) == ":" && end + 1 < text.size() && base::IsDigit(text[end + 1]);
    if (number && *number <= kMost && kind != ProcessNumber::kOther && is_end && !is_clock) {
      return ProcessSlot{*number, kind, at, end};
    }
    at = text.find_first_of(kNumerals, end);
  }
  return std::nullopt;
}

bool IsOfOtherRank(std::string_view before) {
  static constexpr auto kOthers = std::to_array<std::string_view>(
      {"local", "node",     "group",   "lora",     "dp",       "tp",     "pp",
       "ep",    "machine",  "worker",  "matrix",   "data",     "tensor", "pipeline",
       "model", "expert",   "context", "sequence", "parallel", "cp",     "sp",
       "mp",    "instance", "replica", "host",     "server",   "stage",  "shard",
       "peer",  "remote",   "src",     "dst",      "target"});
  if (before.ends_with('_') || before.ends_with('-')) before.remove_suffix(1);
  const size_t end = before.find_last_not_of(" =:[(");
  if (end == std::string_view::npos || before.ends_with("  ")) return false;
  const size_t begin =
      before.find_last_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", end);
  const std::string word =
      base::ToLower(before.substr(begin == std::string_view::npos ? 0 : begin + 1, end - begin));
  return std::find(kOthers.begin(), kOthers.end(), word) != kOthers.end();
}

void NumbersInPlace::Add(int number) {
  ++lines_;
  falls_ = falls_ || (number > 0 && number < last_);
  last_ = number;
  if (number == 0) last_of_zero_ = lines_;
  if (!numbers_.insert(number).second) return;
  if (number < *numbers_.rbegin()) is_in_order_ = false;
  if (number == *numbers_.rbegin()) first_of_largest_ = lines_;
}

bool NumbersInPlace::MayBeCounter() const {
  return is_in_order_ && last_of_zero_ < first_of_largest_;
}

std::vector<ForeignPrefix> FindForeignPrefixes(const std::vector<std::string_view>& lines) {
  std::vector<std::string_view> shapes;
  for (size_t i = 0; i < lines.size() && shapes.size() < kMostShapes; ++i) {
    const std::string_view prefix = PrefixOf(lines[i]);
    if (prefix.empty()) continue;
    const bool is_known = std::any_of(shapes.begin(), shapes.end(), [&](std::string_view shape) {
      return SizeOfShape(prefix, shape) == prefix.size();
    });
    if (!is_known && ComesAgain(lines, i, prefix)) shapes.push_back(prefix);
  }
  std::vector<ForeignPrefix> found(lines.size());
  std::map<std::string_view, std::vector<size_t>> of_shapes;
  for (size_t i = 0; !shapes.empty() && i < lines.size(); ++i) {
    for (const std::string_view shape : shapes) {
      const size_t size = SizeOfShape(lines[i], shape);
      if (size == 0) continue;
      found[i] = Describe(lines[i].substr(0, size));
      of_shapes[shape].push_back(i);
      break;
    }
  }
  for (const auto& [shape, of_shape] : of_shapes) NameShape(lines, of_shape, found);
  std::set<std::string_view> sources;
  for (const ForeignPrefix& prefix : found) {
    if (prefix.size > 0) sources.insert(prefix.source);
  }
  if (sources.size() < 2) {
    for (ForeignPrefix& prefix : found) prefix.source.clear();
  }
  return found;
}

}  // namespace answers
