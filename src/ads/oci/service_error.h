// Error answers of the services, and when to retry (compat/opctl.md 5.4, 5.5). Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "net/http/types.h"

namespace ads::oci {

// The request, for messages.
struct Asked {
  std::string service;    // "data_science"
  std::string operation;  // "create_job_run"
  std::string advice;     // after a 401: what to check
  base::Time sent;        // by this machine's clock
};

// `ServiceError: 404 NotAuthorizedOrNotFound: <message> (get_job_run of data_science,
// opc-request-id X)`, on one line, with advice if the cause is known: for example a clock that
// differs by more than five minutes from the answer's date.
base::Error ErrorFromService(const net::HttpResponse& answer, const Asked& asked);

inline constexpr int kMaxTries = 8;
// Attempts when there is no answer at all: a network that is down stays down.
inline constexpr int kMaxTriesWithoutAnswer = 4;
inline constexpr std::chrono::seconds kLongestPause{30};
inline constexpr std::chrono::seconds kLongestRetrying{600};

// Whether the request may have been carried out although the answer does not say so: there was no
// answer, or the service failed while processing it.
bool MayBeDone(const base::Error& error);
// Whether a later attempt may succeed: there was no answer, or the service was unavailable.
bool IsPassing(const base::Error& error);

// How long to wait before the `tries`-th repetition (from 1) of a request with this answer.
// `spread` in [0, 1) separates clients that failed together; `elapsed` is the time since the first
// attempt. At least as long as the service asks (retry-after, seconds or a date). Nullopt: the
// answer is final, also when the service asks for a longer wait than kLongestRetrying permits.
std::optional<base::Duration> PauseAfter(const net::HttpResponse& answer, int tries, double spread,
                                         base::Duration elapsed);
// The same for a request without a complete answer.
std::optional<base::Duration> PauseAfter(const base::Error& error, int tries, double spread,
                                         base::Duration elapsed);

}  // namespace ads::oci
