// The annotation that says which collective call each rank of a job had entered last, before one
// of them failed (kLastCollectivesAnnotation). A line for each rank:
//   1 2026-07-30T10:00:05Z had entered all_reduce #40 and finished #40
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"

namespace api {

inline constexpr std::string_view kLastCollectivesAnnotation = "muster.dev/last-collectives";

struct LastCollective {
  int rank = 0;
  base::Time time{};  // when it reported this
  std::string text;
};

inline constexpr size_t kMostLastCollectives = 256;

// The first kMostLastCollectives of them.
std::string FormatLastCollectives(const std::vector<LastCollective>& ranks);
// Lines that are malformed are left out.
std::vector<LastCollective> ReadLastCollectives(std::string_view text);

}  // namespace api
