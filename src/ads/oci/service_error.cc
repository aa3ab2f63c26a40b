#include "ads/oci/service_error.h"

#include <fmt/format.h>

#include <algorithm>

#include "ads/oci/signature.h"
#include "base/strings.h"
#include "net/http/failed_answer.h"
#include "text/json.h"

namespace ads::oci {
namespace {

using base::Code;
using std::chrono::seconds;

constexpr std::chrono::minutes kMaxSkew{5};
constexpr size_t kMaxShown = 300;
// The longest retry-after that is respected.
constexpr seconds kLongestAsked{24 * 3600};

Code CodeOf(int status, std::string_view code) {
  if (code == "LimitExceeded" || code == "QuotaExceeded") return Code::kExhausted;
  if (status >= 500) return Code::kUnavailable;
  const Code known = net::CodeFromStatus(status);
  return known == Code::kInternal ? Code::kInvalidArgument : known;
}

std::string Shown(std::string_view text) { return base::OneLine(text, kMaxShown); }

// The message of an answer that is not in the services' format.
std::string MessageOfStranger(const net::HttpResponse& answer) {
  const std::string_view location = net::FindHeader(answer.headers, "location");
  if (answer.status >= 300 && answer.status < 400 && !location.empty()) {
    return fmt::format("sent on to {}, where no signed request goes: is there a proxy?", location);
  }
  if (const auto title = net::TitleOfWebPage(answer.headers, answer.body)) {
    return fmt::format("a web page{}{}, not the service's answer: is there a proxy?",
                       title->empty() ? "" : ", ", *title);
  }
  const std::string_view body = base::Trim(answer.body);
  return body.empty() ? "no reason was given" : std::string(body);
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

// The wait requested by `retry-after`: seconds, or a date, which is compared with the answer's own.
std::optional<base::Duration> AskedPause(const net::HttpResponse& answer) {
  const std::string_view text = net::FindHeader(answer.headers, "retry-after");
  if (const auto count = base::ParseInt(text); count && *count >= 0) {
    return seconds(std::min<int64_t>(*count, kLongestAsked.count()));
  }
  const auto at = ParseHttpDate(text);
  const auto now = ParseHttpDate(net::FindHeader(answer.headers, "date"));
  if (!at || !now) return std::nullopt;
  return std::clamp<base::Duration>(*at - *now, base::Duration::zero(), kLongestAsked);
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
  if (message.empty()) message = MessageOfStranger(answer);
  std::string advice;
  if (answer.status == 401) {
    advice = ClockAdvice(answer, asked.sent);
    if (advice.empty()) advice = asked.advice;
  }
  if (const auto pause = AskedPause(answer); pause && *pause > base::Duration::zero()) {
    advice = fmt::format("it asks to be left alone for {} s",
                         std::chrono::ceil<seconds>(*pause).count());
  }
  const std::string request_id(net::FindHeader(answer.headers, "opc-request-id"));
  return {CodeOf(answer.status, code),
          fmt::format("ServiceError: {}{}{}: {} ({} of {}{}{}){}{}", answer.status,
                      code.empty() ? "" : " ", Shown(code), Shown(message), asked.operation,
                      asked.service, request_id.empty() ? "" : ", opc-request-id ",
                      Shown(request_id), advice.empty() ? "" : ": ", advice),
          0};
}

bool MayBeDone(const base::Error& error) {
  return error.code == Code::kUnavailable || error.code == Code::kTimeout ||
         error.code == Code::kCancelled;
}

bool IsPassing(const base::Error& error) {
  return error.code == Code::kUnavailable || error.code == Code::kTimeout ||
         error.code == Code::kExhausted;
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
  const auto own = Wait(tries, spread, elapsed);
  const auto asked = AskedPause(answer);
  if (!own || !asked) return own;
  const base::Duration pause = std::max(*own, *asked);
  return elapsed + pause > kLongestRetrying ? std::nullopt : std::optional(pause);
}

std::optional<base::Duration> PauseAfter(const base::Error& error, int tries, double spread,
                                         base::Duration elapsed) {
  const bool is_unanswered = error.code == Code::kUnavailable || error.code == Code::kTimeout;
  if (!is_unanswered || tries >= kMaxTriesWithoutAnswer) return std::nullopt;
  return Wait(tries, spread, elapsed);
}

}  // namespace ads::oci
