// What each rank, the job's status and the cluster's events say about the failure, before one of
// them is believed.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "answers/evidence.h"
#include "answers/finding.h"
#include "answers/traceback.h"
#include "answers/verdict.h"

namespace answers {

// A finding, and the rank that it is about.
struct Claim {
  Finding finding;
  std::optional<size_t> rank;
  std::string source;
  bool was_replaced = false;  // the rank was tried again, and the job failed by something later
  bool is_overtaken = false;  // the later attempt failed by itself, whether it said why or not
};

// The last attempt of the rank with that number: an index into Evidence::ranks. Pure.
std::optional<size_t> PlaceOf(const Evidence& evidence, int number);

// Returns the rank that a launcher calls the first to fail, if its lines are in the file `name`.
// Pure.
std::optional<size_t> FirstAmong(const Evidence& evidence, std::string_view name);

// All claims that count; none if nothing has failed. Pure.
std::vector<Claim> ClaimsOf(const Evidence& evidence);

// The verdict's line of code becomes that of the frame, or none with {}.
void TakeFrame(Verdict& verdict, const Frame& frame);

}  // namespace answers
