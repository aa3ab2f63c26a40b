#include "ads/oci/api.h"

#include <fmt/format.h>

#include <utility>

#include "base/log.h"
#include "base/strings.h"
#include "base/uid.h"

namespace ads::oci {
namespace {

using base::Code;
using base::Fail;

constexpr size_t kRetryTokenLength = 30;
// A longer list is a fault of the service.
constexpr size_t kMaxPages = 10'000;
// Shorter pauses are not reported.
constexpr std::chrono::seconds kSilentPause{5};

// 32 hexadecimal digits.
std::string RandomHex() {
  std::string hex = base::NewUid();
  std::erase(hex, '-');
  return hex;
}

double RandomSpread() {
  const std::string hex = RandomHex().substr(0, 6);
  return static_cast<double>(std::stoul(hex, nullptr, 16)) / static_cast<double>(1 << 24);
}

base::Error Interrupted() { return {Code::kCancelled, "interrupted", 0}; }

bool IsSuccess(int status) { return status >= 200 && status < 300; }

}  // namespace

std::string HostHeader(const net::Url& url) {
  const bool is_usual = url.port == (url.scheme == "https" ? 443 : 80);
  std::string host = url.Authority();
  if (is_usual) host.resize(host.rfind(':'));
  return host;
}

net::Headers Api::UsualHeaders(const ApiRequest& request) const {
  net::Headers headers = request.headers;
  headers.emplace_back("accept", "application/json");
  if (!request.content_type.empty()) headers.emplace_back("content-type", request.content_type);
  headers.emplace_back("opc-request-id", base::ToUpper(RandomHex()));
  headers.emplace_back("opc-client-info", "muster/" MUSTER_VERSION);
  headers.emplace_back("user-agent", "muster/" MUSTER_VERSION);
  if (request.is_create) {
    headers.emplace_back("opc-retry-token", RandomHex().substr(0, kRetryTokenLength));
  }
  return headers;
}

bool Api::IsBroken() const { return options_.breaker != nullptr && options_.breaker->is_broken(); }

base::Result<Api::Try> Api::Sign(const ApiRequest& request, const net::Headers& headers,
                                 std::string body) {
  if (IsBroken()) return Fail(Interrupted());
  TRY_ASSIGN(const Principal::Credential credential, principal_.Show());
  Try made;
  made.request.method = request.method;
  made.request.target = options_.base_path + request.target;
  made.request.headers = headers;
  made.request.body = std::move(body);
  made.key_id = credential.key_id;
  made.sent = clock_.Now();
  TRY(SignRequest(made.request, options_.host, request.signed_body, credential.key_id,
                  *credential.key, made.sent));
  return made;
}

base::Result<net::HttpResponse> Api::Transmit(const Try& attempt, const net::FileRange* file) {
  if (file != nullptr) return connection_.files->SendFile(attempt.request, *file);
  return connection_.client->Send(attempt.request);
}

base::Result<net::HttpResponse> Api::Settle(const ApiRequest& request, const net::Headers& headers,
                                            const net::FileRange* file, Try attempt,
                                            base::Result<net::HttpResponse> answer) {
  const auto begun = clock_.Steady();
  const std::string service(ServiceName(options_.service));
  bool has_renewed = false;
  for (int tries = 1;; ++tries) {
    if (answer && IsSuccess(answer->status)) {
      base::LogDebug("{} of {}: HTTP {}, opc-request-id {}", request.operation, service,
                     answer->status, net::FindHeader(answer->headers, "opc-request-id"));
      return answer;
    }
    if (!answer && answer.error().code == Code::kCancelled) return Fail(Interrupted());
    std::optional<base::Duration> pause;
    const auto elapsed = std::chrono::duration_cast<base::Duration>(clock_.Steady() - begun);
    if (answer && answer->status == 401 && !has_renewed && principal_.Refused(attempt.key_id)) {
      has_renewed = true;
      pause = base::Duration::zero();
    } else if (!request.is_repeated) {
      break;
    } else if (answer) {
      pause = PauseAfter(*answer, tries, RandomSpread(), elapsed);
    } else {
      pause = PauseAfter(answer.error(), tries, RandomSpread(), elapsed);
    }
    if (!pause) break;
    // A user at a terminal sees the reason for the wait.
    const bool is_long = !answer || *pause >= kSilentPause;
    base::Log(is_long ? base::LogLevel::kInfo : base::LogLevel::kDebug,
              fmt::format("{} of {}: {}; again in {:.1f} s", request.operation, service,
                          answer ? fmt::format("HTTP {}", answer->status) : answer.error().message,
                          std::chrono::duration<double>(*pause).count()));
    if (pause->count() > 0) options_.pause(*pause);
    // A creation that was refused was not carried out: that matters more than the interruption.
    if (IsBroken() && request.is_create && answer && !MayBeDone(ErrorFromService(*answer, {})))
      break;
    TRY_ASSIGN(attempt, Sign(request, headers, std::move(attempt.request.body)));
    answer = Transmit(attempt, file);
  }
  if (!answer) {
    return Fail(answer.error().Wrap(fmt::format("{} of {}", request.operation, service)));
  }
  return Fail(ErrorFromService(
      *answer, {service, request.operation, principal_.origin().advice, attempt.sent}));
}

base::Result<net::HttpResponse> Api::Send(ApiRequest request) {
  const net::Headers headers = UsualHeaders(request);
  TRY_ASSIGN(Try attempt, Sign(request, headers, std::move(request.body)));
  auto answer = Transmit(attempt, nullptr);
  return Settle(request, headers, nullptr, std::move(attempt), std::move(answer));
}

base::Result<net::HttpResponse> Api::SendFile(const ApiRequest& request,
                                              const net::FileRange& range) {
  const net::Headers headers = UsualHeaders(request);
  TRY_ASSIGN(Try attempt, Sign(request, headers, ""));
  auto answer = Transmit(attempt, &range);
  return Settle(request, headers, &range, std::move(attempt), std::move(answer));
}

std::vector<base::Result<net::HttpResponse>> Api::SendAll(std::span<const ApiRequest> requests) {
  std::vector<base::Result<net::HttpResponse>> answers;
  std::vector<net::Headers> headers;
  std::vector<Try> attempts;
  std::vector<net::HttpRequest> sent;
  for (const ApiRequest& request : requests) {
    headers.push_back(UsualHeaders(request));
    auto attempt = Sign(request, headers.back(), request.body);
    if (!attempt) {
      for (size_t i = 0; i < requests.size(); ++i) answers.push_back(Fail(attempt.error()));
      return answers;
    }
    sent.push_back(std::move(attempt->request));
    attempts.push_back(std::move(*attempt));
  }
  answers = connection_.client->SendAll(sent);
  for (size_t i = 0; i < answers.size(); ++i) {
    answers[i] =
        Settle(requests[i], headers[i], nullptr, std::move(attempts[i]), std::move(answers[i]));
  }
  return answers;
}

base::Result<text::Json> Api::Ask(const ApiRequest& request) {
  TRY_ASSIGN(const net::HttpResponse answer, Send(request));
  if (answer.body.empty()) return text::Json(nullptr);
  auto value = text::ParseJson(answer.body);
  if (!value) {
    return Fail(Code::kUnavailable,
                fmt::format("{} of {}: the answer is not JSON: {}", request.operation,
                            ServiceName(options_.service), value.error().message));
  }
  return value;
}

base::Result<text::Array> Api::List(ApiRequest request) {
  const std::string first = request.target;
  text::Array items;
  for (size_t page = 0; page < kMaxPages; ++page) {
    TRY_ASSIGN(const net::HttpResponse answer, Send(request));
    auto value = text::ParseJson(answer.body);
    const text::Array* part = !value              ? nullptr
                              : value->is_array() ? value->if_array()
                                                  : text::FindArray(*value, {"items"});
    if (part == nullptr) {
      return Fail(Code::kUnavailable,
                  fmt::format("{} of {}: the answer is not a list", request.operation,
                              ServiceName(options_.service)));
    }
    items.insert(items.end(), part->begin(), part->end());
    const std::string_view next = net::FindHeader(answer.headers, "opc-next-page");
    if (next.empty()) return items;
    request.target = first + (first.find('?') == std::string::npos ? '?' : '&') +
                     "page=" + net::PercentEncode(next);
  }
  return Fail(Code::kUnavailable, fmt::format("{} of {}: the list does not end", request.operation,
                                              ServiceName(options_.service)));
}

}  // namespace ads::oci
