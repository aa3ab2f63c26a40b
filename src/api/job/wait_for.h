// A job that starts when others have succeeded: kWaitForAnnotation on one that is suspended.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "text/json.h"

namespace api {

// Of a suspended job: the jobs that have to succeed before it starts.
inline constexpr std::string_view kWaitForAnnotation = "muster.dev/wait-for";

// Behind the name of such a job in the reason of one that has failed with it.
inline constexpr std::string_view kAwaitedMark = ", which this one waited for, ";

// By its uid: another job of that name, made later, is not the one that was meant.
struct AwaitedJob {
  std::string name, uid;

  bool operator==(const AwaitedJob&) const = default;
};

// What is written on the job: "prepare=UID,base=UID".
std::string WriteAwaited(const std::vector<AwaitedJob>& jobs);
// Whom a job waits for; none unless it is suspended too: one that was resumed waits no more.
std::vector<AwaitedJob> AwaitedBy(const text::Json& job);

}  // namespace api
