#include "launch/flags/streams.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "base/strings.h"

namespace launch {
namespace {

std::optional<StreamSet> ParseStreamSet(std::string_view text) {
  if (text.size() != 1 || text[0] < '0' || text[0] > '3') return std::nullopt;
  return StreamSet(static_cast<unsigned>(text[0] - '0'));
}

std::optional<int> ParseLocalRank(std::string_view text) {
  if (text.empty() || !std::all_of(text.begin(), text.end(), base::IsDigit)) return std::nullopt;
  const auto rank = base::ParseInt(text);
  if (!rank || *rank > std::numeric_limits<int>::max()) return std::nullopt;
  return static_cast<int>(*rank);
}

}  // namespace

base::Result<StreamChoice> StreamChoice::Parse(std::string_view text) {
  StreamChoice choice;
  // In a regular expression, $ also matches before a final newline.
  if (text.ends_with('\n')) text.remove_suffix(1);
  if (const auto set = ParseStreamSet(text)) {
    choice.all_ = *set;
    return choice;
  }
  choice.is_map_ = true;
  for (const std::string& part : base::Split(text, ',')) {
    const size_t colon = part.find(':');
    const std::string_view whole = part;
    const auto rank = ParseLocalRank(whole.substr(0, colon));
    const auto set =
        colon == std::string::npos ? std::nullopt : ParseStreamSet(whole.substr(colon + 1));
    if (!rank || !set) {
      return base::Fail(base::Code::kInvalidArgument,
                        fmt::format("'{}' is neither 0, 1, 2, 3 nor a map such as 0:1,1:3 (local "
                                    "rank : streams)",
                                    text));
    }
    choice.by_rank_[*rank] = *set;
  }
  return choice;
}

StreamSet StreamChoice::Of(int local_rank) const {
  if (!is_map_) return all_;
  const auto found = by_rank_.find(local_rank);
  return found == by_rank_.end() ? StreamSet() : found->second;
}

bool StreamChoice::IsEmpty() const {
  return all_.IsEmpty() && std::all_of(by_rank_.begin(), by_rank_.end(),
                                       [](const auto& entry) { return entry.second.IsEmpty(); });
}

}  // namespace launch
