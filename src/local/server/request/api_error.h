// Refusals in the words of a Kubernetes API server (metav1.Status).
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
  std::string reason = "InternalError";  // "": without a reason
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
// The path does not exist.
ApiError NoSuchPath();
ApiError MethodNotAllowed();
ApiError AlreadyExists(const api::Resource& resource, std::string_view name);
// `Operation cannot be fulfilled on pods "x": why`
ApiError Conflict(const api::Resource& resource, std::string_view name, std::string_view why);
ApiError StaleVersion(const api::Resource& resource, std::string_view name);
// A PUT has to name the version that it replaces.
ApiError VersionRequired(const api::Resource& resource, std::string_view name);
ApiError BadRequest(std::string message);
ApiError UnsupportedMediaType(std::string message);
ApiError Forbidden(std::string message);
// `pods "x" is forbidden: why`
ApiError Forbidden(const api::Resource& resource, std::string_view name, std::string_view why);
// `PyTorchJob.kubeflow.org "x" is invalid: cause`; each cause is `field: text`, as field.Error
// prints it.
ApiError Invalid(const api::Resource& resource, std::string_view name,
                 const std::vector<std::string>& causes);
// `DeleteOptions.meta.k8s.io "" is invalid: field: why`: of an option of a request.
ApiError InvalidRequestOption(std::string_view options, std::string_view field,
                              std::string_view why);
ApiError TooManyRequests(std::string message);
ApiError Expired(std::string message);
// Maps the code (kExhausted to 507, kUnavailable to 503, ...) and keeps the message.
ApiError FromError(const base::Error& error);
// The error for an in-process caller, with the status's message.
base::Error ToError(const ApiError& error);

// The metav1.Status object.
text::Json ToStatus(const ApiError& error);
net::HttpResponse ToResponse(const ApiError& error);
net::HttpResponse JsonResponse(int http_status, std::string body);
// Value of the `Warning` header.
std::string WarningHeader(std::string_view text);

}  // namespace local::server
