#include "local/server/request/api_error.h"

#include <fmt/format.h>

#include <array>

#include "base/strings.h"
#include "local/store/object.h"

namespace local::server {
namespace {

using base::Code;

struct ErrorKind {
  Code code;
  int http_status;
  std::string_view reason;
};

// FromError uses the first row of a code; further rows of it only serve ToError.
constexpr std::array kKinds = {
    ErrorKind{Code::kInvalidArgument, 400, "BadRequest"},
    ErrorKind{Code::kInvalidArgument, 422, "Invalid"},
    ErrorKind{Code::kInvalidArgument, 405, "MethodNotAllowed"},
    ErrorKind{Code::kInvalidArgument, 415, "UnsupportedMediaType"},
    ErrorKind{Code::kNotFound, 404, "NotFound"},
    ErrorKind{Code::kAlreadyExists, 409, "AlreadyExists"},
    ErrorKind{Code::kConflict, 409, "Conflict"},
    ErrorKind{Code::kExpired, 410, "Expired"},
    ErrorKind{Code::kUnauthenticated, 401, "Unauthorized"},
    ErrorKind{Code::kPermissionDenied, 403, "Forbidden"},
    ErrorKind{Code::kUnavailable, 503, "ServiceUnavailable"},
    ErrorKind{Code::kUnavailable, 429, "TooManyRequests"},
    ErrorKind{Code::kTimeout, 504, "Timeout"},
    ErrorKind{Code::kCancelled, 503, "ServiceUnavailable"},
    ErrorKind{Code::kExhausted, 507, "InsufficientStorage"},
    ErrorKind{Code::kInternal, 500, "InternalError"},
};

text::Object Details(const api::Resource& resource, std::string_view name) {
  text::Object details;
  if (!name.empty()) details["name"] = name;
  if (!resource.group.empty()) details["group"] = resource.group;
  details["kind"] = resource.plural;
  return details;
}

std::string_view CauseReason(std::string_view text) {
  constexpr std::pair<std::string_view, std::string_view> kReasons[] = {
      {"Required value", "FieldValueRequired"},
      {"Duplicate value", "FieldValueDuplicate"},
      {"Unsupported value", "FieldValueNotSupported"},
      {"Forbidden", "FieldValueForbidden"},
      {"Too long", "FieldValueTooLong"},
      {"Not found", "FieldValueNotFound"},
  };
  if (text.find(" in body must be of type ") != std::string_view::npos) {
    return "FieldValueTypeInvalid";
  }
  for (const auto& [prefix, reason] : kReasons) {
    if (text.starts_with(prefix)) return reason;
  }
  return "FieldValueInvalid";
}

text::Json Cause(std::string_view cause) {
  const size_t colon = cause.find(": ");
  const std::string_view field = colon == std::string_view::npos ? "" : cause.substr(0, colon);
  const std::string_view text = colon == std::string_view::npos ? cause : cause.substr(colon + 2);
  return text::Object{{"reason", CauseReason(text)}, {"message", text}, {"field", field}};
}

}  // namespace

ApiError NotFound(const api::Resource& resource, std::string_view name) {
  return {404, "NotFound", fmt::format("{} \"{}\" not found", store::ResourceName(resource), name),
          Details(resource, name)};
}

ApiError NoSuchPath() {
  return {404, "NotFound", "the server could not find the requested resource", text::Object{}};
}

ApiError MethodNotAllowed() {
  return {405, "MethodNotAllowed",
          "the server does not allow this method on the requested resource", text::Object{}};
}

ApiError AlreadyExists(const api::Resource& resource, std::string_view name) {
  return {409, "AlreadyExists",
          fmt::format("{} \"{}\" already exists", store::ResourceName(resource), name),
          Details(resource, name)};
}

ApiError Conflict(const api::Resource& resource, std::string_view name, std::string_view why) {
  return {409, "Conflict",
          fmt::format("Operation cannot be fulfilled on {} \"{}\": {}",
                      store::ResourceName(resource), name, why),
          Details(resource, name)};
}

ApiError StaleVersion(const api::Resource& resource, std::string_view name) {
  return Conflict(resource, name,
                  "the object has been modified; please apply your changes to the latest version "
                  "and try again");
}

ApiError VersionRequired(const api::Resource& resource, std::string_view name) {
  const std::string cause =
      "metadata.resourceVersion: Invalid value: 0x0: must be specified for an update";
  text::Object details = Details(resource, name);
  details["causes"] = text::Array{Cause(cause)};
  return {422, "Invalid",
          fmt::format("{} \"{}\" is invalid: {}", store::ResourceName(resource), name, cause),
          std::move(details)};
}

ApiError BadRequest(std::string message) { return {400, "BadRequest", std::move(message), {}}; }

ApiError UnsupportedMediaType(std::string message) {
  return {415, "UnsupportedMediaType", std::move(message), {}};
}

ApiError Forbidden(std::string message) { return {403, "Forbidden", std::move(message), {}}; }

ApiError Forbidden(const api::Resource& resource, std::string_view name, std::string_view why) {
  return {403, "Forbidden",
          fmt::format("{} \"{}\" is forbidden: {}", store::ResourceName(resource), name, why),
          Details(resource, name)};
}

ApiError Invalid(const api::Resource& resource, std::string_view name,
                 const std::vector<std::string>& causes) {
  text::Object details = Details(resource, name);
  details["kind"] = resource.kind;
  text::Array list;
  for (const std::string& cause : causes) list.push_back(Cause(cause));
  details["causes"] = std::move(list);
  const std::string kind = resource.group.empty()
                               ? std::string(resource.kind)
                               : fmt::format("{}.{}", resource.kind, resource.group);
  const std::string joined = base::Join(causes, ", ");
  return {422, "Invalid",
          fmt::format("{} \"{}\" is invalid: {}", kind, name,
                      causes.size() == 1 ? joined : "[" + joined + "]"),
          std::move(details)};
}

ApiError InvalidRequestOption(std::string_view options, std::string_view field,
                              std::string_view why) {
  const std::string cause = fmt::format("{}: {}", field, why);
  return {422, "Invalid", fmt::format("{}.meta.k8s.io \"\" is invalid: {}", options, cause),
          text::Object{
              {"group", "meta.k8s.io"}, {"kind", options}, {"causes", text::Array{Cause(cause)}}}};
}

ApiError TooManyRequests(std::string message) {
  return {429, "TooManyRequests", std::move(message), {}};
}

ApiError Expired(std::string message) { return {410, "Expired", std::move(message), {}}; }

ApiError FromError(const base::Error& error) {
  for (const ErrorKind& kind : kKinds) {
    if (kind.code != error.code) continue;
    return {kind.http_status, std::string(kind.reason), error.message, {}};
  }
  return {500, "InternalError", error.message, {}};
}

base::Error ToError(const ApiError& error) {
  for (const ErrorKind& kind : kKinds) {
    if (kind.http_status == error.http_status && kind.reason == error.reason) {
      return {kind.code, error.message, 0};
    }
  }
  return {Code::kInternal, error.message, 0};
}

text::Json ToStatus(const ApiError& error) {
  text::Object status{{"kind", "Status"},
                      {"apiVersion", "v1"},
                      {"metadata", text::Object{}},
                      {"status", "Failure"},
                      {"message", error.message}};
  if (!error.reason.empty()) status["reason"] = error.reason;
  if (error.details.is_object()) status["details"] = error.details;
  status["code"] = error.http_status;
  return status;
}

net::HttpResponse ToResponse(const ApiError& error) {
  net::HttpResponse response = JsonResponse(error.http_status, text::ToJson(ToStatus(error)));
  const bool is_for_now = error.http_status == 503 || error.http_status == 429;
  if (is_for_now) response.headers.emplace_back("Retry-After", "1");
  return response;
}

net::HttpResponse JsonResponse(int http_status, std::string body) {
  return {http_status, {{"Content-Type", "application/json"}}, std::move(body)};
}

std::string WarningHeader(std::string_view text) {
  std::string quoted;
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    // A line break would end the header.
    quoted += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
  }
  return fmt::format("299 - \"{}\"", quoted);
}

}  // namespace local::server
