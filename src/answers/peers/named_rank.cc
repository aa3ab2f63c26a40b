#include "answers/peers/named_rank.h"

#include <algorithm>
#include <array>
#include <set>
#include <vector>

#include "answers/rank_number.h"
#include "base/strings.h"

namespace answers {
namespace {

std::optional<int> RankBehind(std::string_view text, std::string_view words) {
  const size_t at = text.find(words);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view number = text.substr(at + words.size());
  return RankNumber(number.substr(0, number.find_first_not_of("0123456789")));
}

// The words before the two ranks.
struct Difference {
  std::string_view by, named;
  bool is_speakers = true;  // the first one is the rank that prints it
};
constexpr auto kDiffering = std::to_array<Difference>({
    {"Detected mismatch between collectives on ranks. Rank ", ", but Rank "},
    {"DDP expects same model across all ranks, but Rank ", ", while rank "},
    {"Forward order differs across ranks: rank ", " while rank ", false},
});

// A line of Horovod's list: "5: [allreduce.a, allreduce.b ...]", with "5!:" for a rank that it
// has waited for too long (stall_inspector.cc).
struct Missing {
  int rank = 0;
  bool is_marked = false;
};

std::optional<Missing> ReadMissing(std::string_view text) {
  const size_t end = std::min(text.find_first_not_of("0123456789"), text.size());
  const auto rank = RankNumber(text.substr(0, end));
  const std::string_view rest = text.substr(end);
  const bool is_marked = rest.starts_with('!');
  if (!rank || !rest.substr(is_marked ? 1 : 0).starts_with(": [")) return std::nullopt;
  return Missing{*rank, is_marked};
}

bool IsHeading(std::string_view text) {
  text = base::Trim(text);
  return text == "Missing ranks:" || text == "Stalled ranks:";
}

// The number of such a line may have been taken for a rank's prefix.
std::optional<Missing> ReadMissingAt(const Evidence& evidence, size_t order) {
  for (const Rank& rank : evidence.ranks) {
    const auto line = std::lower_bound(rank.lines.begin(), rank.lines.end(), order,
                                       [](const Line& each, size_t at) { return each.order < at; });
    if (line == rank.lines.end() || line->order != order) continue;
    return rank.rank && line->text.starts_with('[') ? std::optional(Missing{*rank.rank})
                                                    : ReadMissing(line->text);
  }
  return std::nullopt;
}

std::vector<Missing> ReadLastMissing(const Evidence& evidence) {
  const Rank* of = nullptr;
  size_t heading = 0;
  for (const Rank& rank : evidence.ranks) {
    for (size_t i = 0; i < rank.lines.size(); ++i) {
      const bool is_later = of == nullptr || of->lines[heading].order < rank.lines[i].order;
      if (!is_later || !IsHeading(rank.lines[i].text)) continue;
      of = &rank;
      heading = i;
    }
  }
  std::vector<Missing> missing;
  if (of == nullptr) return missing;
  for (size_t i = heading + 1; i < of->lines.size(); ++i) {
    const auto entry = ReadMissing(of->lines[i].text);
    if (!entry) break;
    missing.push_back(*entry);
  }
  for (size_t order = of->lines[heading].order + 1; !of->rank; ++order) {
    const auto entry = ReadMissingAt(evidence, order);
    if (!entry) break;
    missing.push_back(*entry);
  }
  return missing;
}

}  // namespace

bool BeginsMismatch(std::string_view line) {
  return std::any_of(kDiffering.begin(), kDiffering.end(), [line](const Difference& phrase) {
    return RankBehind(line, phrase.by).has_value();
  });
}

std::optional<Mismatch> ReadMismatch(std::string_view line) {
  for (const Difference& phrase : kDiffering) {
    const auto by = RankBehind(line, phrase.by);
    const auto named = by ? RankBehind(line, phrase.named) : std::nullopt;
    if (named) return Mismatch{*by, *named, phrase.is_speakers};
  }
  return std::nullopt;
}

namespace {

// Nullopt if the ranks' numbers are not the job's, because a rank counts itself in a group of its
// own, or if what they compared had not come: a model of 0 parameters.
std::optional<std::vector<Mismatch>> ReadMismatches(const Evidence& evidence) {
  std::vector<Mismatch> mismatches;
  for (const Rank& rank : evidence.ranks) {
    for (const Line& line : rank.lines) {
      const auto mismatch = ReadMismatch(line.text);
      if (!mismatch) continue;
      if (mismatch->is_speakers && rank.rank && rank.rank != mismatch->by) return std::nullopt;
      if (line.text.find(" has inconsistent 0 params") != line.text.npos) return std::nullopt;
      mismatches.push_back(*mismatch);
    }
  }
  return mismatches;
}

}  // namespace

// Each rank compares itself with all others in the order of their numbers and names the first one
// that differs (ProcessGroupWrapper.cpp, reducer.cpp, _exec_order_utils.py): all ranks below that
// one agree with it.
std::optional<int> OddInMismatch(const Evidence& evidence) {
  const auto mismatches = ReadMismatches(evidence);
  if (!mismatches || mismatches->empty()) return std::nullopt;
  std::optional<int> odd;
  for (const Mismatch& candidate : *mismatches) {
    const auto agrees = [&candidate](const Mismatch& each) {
      return each.by == candidate.named || each.named == candidate.named;
    };
    if (!std::all_of(mismatches->begin(), mismatches->end(), agrees)) continue;
    if (odd && odd != candidate.named) return std::nullopt;  // two that name each other
    odd = candidate.named;
  }
  if (!odd) return std::nullopt;
  std::set<int> against, reporting, known;
  int last = *odd;
  for (const Mismatch& each : *mismatches) {
    last = std::max(last, each.by);
    reporting.insert(each.by);
    if (each.named != *odd) continue;
    against.insert(each.by);
    for (int below = 0; below < *odd; ++below) against.insert(below);
  }
  for (const Rank& rank : evidence.ranks) {
    last = std::max(last, rank.rank.value_or(0));
    if (rank.rank) known.insert(*rank.rank);
  }
  const bool is_whole = known.size() == static_cast<size_t>(last) + 1;
  if (reporting.size() < 2 && !is_whole) return std::nullopt;
  const bool are_most = against.size() > 1 && 2 * against.size() > static_cast<size_t>(last) + 1;
  return are_most ? odd : std::nullopt;
}

std::optional<int> MissingOfHorovod(const Evidence& evidence) {
  const std::vector<Missing> missing = ReadLastMissing(evidence);
  const bool has_marks = std::any_of(missing.begin(), missing.end(),
                                     [](const Missing& each) { return each.is_marked; });
  std::set<int> ranks;
  for (const Missing& each : missing) {
    if (!has_marks || each.is_marked) ranks.insert(each.rank);
  }
  return ranks.size() == 1 ? std::optional(*ranks.begin()) : std::nullopt;
}

}  // namespace answers
