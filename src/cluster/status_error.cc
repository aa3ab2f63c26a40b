#include <fmt/format.h>

#include <array>

#include "base/strings.h"
#include "cluster/client.h"

namespace cluster {
namespace {

using base::Code;

// Of an answer that is not a metav1.Status.
constexpr size_t kMaxQuotedBody = 512;

struct ReasonCode {
  std::string_view reason;
  Code code;
};

// metav1.StatusReason, k8s.io/apimachinery/pkg/apis/meta/v1/types.go
constexpr std::array kReasons = {
    ReasonCode{"NotFound", Code::kNotFound},
    ReasonCode{"AlreadyExists", Code::kAlreadyExists},
    ReasonCode{"Conflict", Code::kConflict},
    ReasonCode{"Invalid", Code::kInvalidArgument},
    ReasonCode{"BadRequest", Code::kInvalidArgument},
    ReasonCode{"MethodNotAllowed", Code::kInvalidArgument},
    ReasonCode{"NotAcceptable", Code::kInvalidArgument},
    ReasonCode{"UnsupportedMediaType", Code::kInvalidArgument},
    ReasonCode{"RequestEntityTooLarge", Code::kInvalidArgument},
    ReasonCode{"Forbidden", Code::kPermissionDenied},
    ReasonCode{"Unauthorized", Code::kUnauthenticated},
    ReasonCode{"Expired", Code::kExpired},
    ReasonCode{"Gone", Code::kExpired},
    ReasonCode{"Timeout", Code::kTimeout},
    ReasonCode{"ServerTimeout", Code::kTimeout},
    ReasonCode{"TooManyRequests", Code::kExhausted},
    ReasonCode{"ServiceUnavailable", Code::kUnavailable},
    ReasonCode{"InternalError", Code::kInternal},
};

Code CodeFromHttp(int http_status) {
  switch (http_status) {
    case 400:
    case 405:
    case 406:
    case 413:
    case 415:
    case 422:
      return Code::kInvalidArgument;
    case 401:
      return Code::kUnauthenticated;
    case 403:
      return Code::kPermissionDenied;
    case 404:
      return Code::kNotFound;
    case 408:
    case 504:
      return Code::kTimeout;
    case 409:
      return Code::kConflict;
    case 410:
      return Code::kExpired;
    case 429:
    case 507:
      return Code::kExhausted;
    case 502:
    case 503:
      return Code::kUnavailable;
    default:
      return Code::kInternal;
  }
}

}  // namespace

base::Error ErrorFromStatus(int http_status, std::string_view body) {
  base::Error error{CodeFromHttp(http_status), "", 0};
  const base::Result<text::Json> status = text::ParseJson(body);
  if (status && text::GetString(*status, {"kind"}) == "Status") {
    const std::string_view reason = text::GetString(*status, {"reason"});
    for (const auto& [name, code] : kReasons) {
      if (name == reason) error.code = code;
    }
    error.message = text::GetString(*status, {"message"});
    if (error.message.empty()) error.message = reason;
  } else {
    error.message = base::Trim(body.substr(0, kMaxQuotedBody));
  }
  if (error.message.empty()) {
    error.message = fmt::format("the server answered with HTTP status {}", http_status);
  }
  return error;
}

}  // namespace cluster
