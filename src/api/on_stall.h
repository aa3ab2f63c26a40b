// What happens when a rank holds up the others of its job: --on-stall, --stall-after.
#pragma once

#include <array>
#include <chrono>
#include <string_view>

#include "text/json.h"

namespace api {

// The variables of a container that say so. The launcher's flags have the same variables, so they
// also work in every pod whose ranks the launcher starts.
inline constexpr std::string_view kOnStallVariable = "PET_ON_STALL";
inline constexpr std::string_view kStallAfterVariable = "PET_STALL_AFTER";

inline constexpr std::array<std::string_view, 5> kOnStallChoices = {"off", "report", "stacks",
                                                                    "restart", "stop"};
inline constexpr std::chrono::seconds kUsualStallAfter{3};
inline constexpr std::chrono::seconds kLongestStallAfter = std::chrono::hours(7 * 24);

struct StallPolicy {
  enum class Action {
    kOff,      // is not looked for
    kReport,   // in the job's annotation (stall.h)
    kStacks,   // also the stacks of all ranks, in the log; also with the following
    kRestart,  // the missing rank is killed
    kStop,     // the job fails
  };
  Action action = Action::kReport;
  std::chrono::seconds after = kUsualStallAfter;  // how long a rank stands still before
};

// Of the training container of a pod, or of a pod's template. What is malformed counts as not set.
StallPolicy StallPolicyOf(const text::Json& pod);

}  // namespace api
