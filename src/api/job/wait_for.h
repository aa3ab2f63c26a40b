// A job that starts when other jobs have succeeded: kWaitForAnnotation on a suspended job.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "text/json.h"

namespace api {

// For a suspended job: the jobs that have to succeed before it starts.
inline constexpr std::string_view kWaitForAnnotation = "muster.dev/wait-for";

// Follows the name of such a job in the reason of a job that failed because of it.
inline constexpr std::string_view kAwaitedMark = ", which this one waited for, ";

// By uid, because a later job of the same name is not the one that was meant.
struct AwaitedJob {
  std::string name, uid;

  bool operator==(const AwaitedJob&) const = default;
};

// The annotation's value: "prepare=UID,base=UID".
std::string WriteAwaited(const std::vector<AwaitedJob>& jobs);
// The jobs for which a job waits; none unless it is suspended, too: a resumed job no longer waits.
std::vector<AwaitedJob> AwaitedBy(const text::Json& job);

}  // namespace api
