// Splits a log into lines and takes their stamps and prefixes from them, for files/read_log.h.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "answers/evidence.h"
#include "answers/log/own_stamp.h"
#include "answers/log/sweep_log.h"

namespace answers {

// A line and what its prefixes say.
struct Split {
  Line line;
  std::optional<OwnStamp> own_time;
  std::optional<int> rank, local_rank;
  std::string pod;
  bool is_rank_field = false;
  std::optional<int> pod_index;

  bool HasSource() const { return rank || local_rank || !pod.empty(); }
};

// The last `limit` lines of a text, the oldest first; they are views of it. Pure.
std::vector<std::string_view> LastLines(std::string_view text, size_t limit);

// The last `limit` lines of a log. A line over 4 KiB is cut. In a sweep's log, keeps the lines of
// one trial: of `wanted` or, if that is "", of the first failed one, which `trial` then describes.
// `limit` counts only lines of the `wanted` trial, because many lines of others may follow them.
std::vector<Split> SplitLines(std::string_view text, size_t limit, const std::string& wanted,
                              std::optional<FailedTrial>& trial);

}  // namespace answers
