#include "ads/oci/service_error.h"

#include <fmt/format.h>

#include <algorithm>

#include "ads/oci/signature.h"
#include "base/strings.h"
#include "text/json.h"

namespace ads::oci {
namespace {

using base::Code;
using std::chrono::seconds;

constexpr std::chrono::minutes kMaxSkew{5};
constexpr size_t kMaxShown = 300;

Code CodeOf(int status, std::string_view code) {
  switch (status) {
    case 401:
      return Code::kUnauthenticated;
    case 403:
      return Code::kPermissionDenied;
    case 404:
      return Code::kNotFound;
    case 409:
      return Code::kConflict;
    case 412:
      return Code::kConflict;
    case 429:
      return Code::kExhausted;
    default:
      break;
  }
  if (code == "LimitExceeded" || code == "QuotaExceeded") return Code::kExhausted;
  return status >= 500 ? Code::kUnavailable : Code::kInvalidArgument;
}

// One line, no control characters.
std::string Shown(std::string_view text) {
  std::string line(base::Trim(text.substr(0, kMaxShown)));
  for (char& c : line) {
    if (static_cast<unsigned char>(c) < ' ' || c == 0x7f) c = ' ';
  }
  return line;
}

std::string ClockAdvice(const net::HttpResponse& answer, base::Time sent) {
  const auto date = ParseHttpDate(net::FindHeader(answer.headers, "date"));
  if (!date) return "";
  const auto off = std::chrono::duration_cast<seconds>(sent - *date);
  if (std::chrono::abs(off) <= kMaxSkew) return "";
  return fmt::format(
      "this machine's clock is {} s {} the service's, which allows 300 s: set it (timedatectl "
      "set-ntp true)",
      std::chrono::abs(off).count(), off.count() > 0 ? "ahead of" : "behind");
}

std::optional<base::Duration> Wait(int tries, double spread, base::Duration elapsed) {
  const base::Duration whole =
      std::min<base::Duration>(seconds(1) * (1 << std::min(tries - 1, 5)), kLongestPause);
  const auto wait =
      whole / 2 +
      base::Duration(static_cast<int64_t>(static_cast<double>(whole.count()) / 2 * spread));
  if (elapsed + wait > kLongestRetrying) return std::nullopt;
  return wait;
}

}  // namespace

base::Error ErrorFromService(const net::HttpResponse& answer, const Asked& asked) {
  std::string code, message;
  if (const auto body = text::ParseJson(answer.body)) {
    code = text::GetString(*body, {"code"});
    message = text::GetString(*body, {"message"});
  }
  if (message.empty()) message = answer.body.empty() ? "no reason was given" : answer.body;
  std::string advice;
  if (answer.status == 401) {
    advice = ClockAdvice(answer, asked.sent);
    if (advice.empty()) advice = asked.advice;
  }
  const std::string request_id(net::FindHeader(answer.headers, "opc-request-id"));
  return {CodeOf(answer.status, code),
          fmt::format("ServiceError: {}{}{}: {} ({} of {}{}{}){}{}", answer.status,
                      code.empty() ? "" : " ", Shown(code), Shown(message), asked.operation,
                      asked.service, request_id.empty() ? "" : ", opc-request-id ",
                      Shown(request_id), advice.empty() ? "" : ": ", advice),
          0};
}

std::optional<base::Duration> PauseAfter(const net::HttpResponse& answer, int tries, double spread,
                                         base::Duration elapsed) {
  bool is_passing = answer.status == 429 || (answer.status >= 500 && answer.status != 501);
  if (answer.status == 409) {
    const auto body = text::ParseJson(answer.body);
    const std::string_view code = body ? text::GetString(*body, {"code"}) : "";
    is_passing = code == "IncorrectState" || code == "LockConflict";
  }
  if (!is_passing || tries >= kMaxTries) return std::nullopt;
  if (const auto asked = base::ParseInt(net::FindHeader(answer.headers, "retry-after"));
      asked && *asked >= 0 && *asked <= kLongestPause.count()) {
    return seconds(*asked);
  }
  return Wait(tries, spread, elapsed);
}

std::optional<base::Duration> PauseAfter(const base::Error& error, int tries, double spread,
                                         base::Duration elapsed) {
  const bool is_passing = error.code == Code::kUnavailable || error.code == Code::kTimeout;
  if (!is_passing || tries >= kMaxTriesWithoutAnswer) return std::nullopt;
  return Wait(tries, spread, elapsed);
}

}  // namespace ads::oci
