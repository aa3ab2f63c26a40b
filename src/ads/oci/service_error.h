// Answers of the services that are not a success, and when to ask again (compat/opctl.md 5.4, 5.5).
// Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "net/http/types.h"

namespace ads::oci {

// What was asked, for messages.
struct Asked {
  std::string service;    // "data_science"
  std::string operation;  // "create_job_run"
  std::string advice;     // after a 401: what to look at
  base::Time sent;        // by this machine's clock
};

// `ServiceError: 404 NotAuthorizedOrNotFound: <message> (get_job_run of data_science,
// opc-request-id X)`, on one line, with what to do where that is known: a clock that is off by more
// than five minutes, by the answer's date.
base::Error ErrorFromService(const net::HttpResponse& answer, const Asked& asked);

inline constexpr int kMaxTries = 8;
// Where nobody answered at all: a network that is down stays down.
inline constexpr int kMaxTriesWithoutAnswer = 4;
inline constexpr std::chrono::seconds kLongestPause{30};
inline constexpr std::chrono::seconds kLongestRetrying{600};

// Whether what was asked for may have been done although its answer says nothing of it: the answer
// did not come, or the service failed while it did it.
bool MayBeDone(const base::Error& error);
// Whether asking again later may help: nobody answered, or nobody could.
bool IsPassing(const base::Error& error);

// How long to wait before the `tries`-th repetition (from 1) of a request that was answered so.
// `spread` in [0, 1) parts clients that failed together; `elapsed` since the first try. As long as
// the service says (retry-after, seconds or a date), at the least. Nothing: the answer stands, also
// where it asks for more than kLongestRetrying has left.
std::optional<base::Duration> PauseAfter(const net::HttpResponse& answer, int tries, double spread,
                                         base::Duration elapsed);
// The same of a request that got no whole answer.
std::optional<base::Duration> PauseAfter(const base::Error& error, int tries, double spread,
                                         base::Duration elapsed);

}  // namespace ads::oci
