// Refusals as a Kubernetes API server words them (metav1.Status).
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "api/resources.h"
#include "base/result.h"
#include "net/http/types.h"
#include "text/json.h"

namespace local::server {

struct ApiError {
  int http_status = 500;
  std::string reason = "InternalError";  // "": none is named
  std::string message;
  text::Json details;  // an object, or null
};

template <typename T>
using Answer = tl::expected<T, ApiError>;
using Check = tl::expected<void, ApiError>;

inline tl::unexpected<ApiError> Refuse(ApiError error) {
  return tl::unexpected<ApiError>(std::move(error));
}

// `pytorchjobs.kubeflow.org "x" not found`
ApiError NotFound(const api::Resource& resource, std::string_view name);
// The path leads nowhere.
ApiError NoSuchPath();
ApiError MethodNotAllowed();
ApiError AlreadyExists(const api::Resource& resource, std::string_view name);
// `Operation cannot be fulfilled on pods "x": why`
ApiError Conflict(const api::Resource& resource, std::string_view name, std::string_view why);
ApiError StaleVersion(const api::Resource& resource, std::string_view name);
ApiError BadRequest(std::string message);
ApiError UnsupportedMediaType(std::string message);
ApiError Forbidden(std::string message);
// `PyTorchJob.kubeflow.org "x" is invalid: cause`; each cause `field: text`, as field.Error prints.
ApiError Invalid(const api::Resource& resource, std::string_view name,
                 const std::vector<std::string>& causes);
ApiError TooManyRequests(std::string message);
ApiError Expired(std::string message);
// By code: kExhausted is 507, kUnavailable 503, ... and its message as it stands.
ApiError FromError(const base::Error& error);
// The code that an in-process caller would get back; the message is the status's.
base::Error ToError(const ApiError& error);

// The metav1.Status object.
text::Json ToStatus(const ApiError& error);
net::HttpResponse ToResponse(const ApiError& error);
net::HttpResponse JsonResponse(int http_status, std::string body);

}  // namespace local::server
