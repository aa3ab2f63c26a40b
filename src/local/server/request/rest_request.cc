#include "local/server/request/rest_request.h"

#include <fmt/format.h>

#include "base/strings.h"

namespace local::server {

bool RestRequest::Flag(std::string_view parameter) const {
  const std::string_view value = target.Query(parameter);
  return value == "1" || value == "t" || value == "T" || value == "true" || value == "TRUE" ||
         value == "True";
}

namespace {

ApiError UnsupportedOption(std::string_view method, std::string_view field, std::string_view why) {
  const std::string_view kind = method == "POST"    ? "CreateOptions"
                                : method == "PATCH" ? "PatchOptions"
                                : method == "PUT"   ? "UpdateOptions"
                                                    : "DeleteOptions";
  return InvalidRequestOption(kind, field, why);
}

}  // namespace

Answer<bool> RestRequest::IsDryRun(std::string_view method) const {
  bool is_dry_run = false;
  for (const auto& [parameter, value] : target.query) {
    if (parameter != "dryRun" || value.empty()) continue;
    if (value != "All") {
      return Refuse(UnsupportedOption(
          method, "dryRun",
          fmt::format("Unsupported value: []string{{\"{}\"}}: supported values: \"All\"", value)));
    }
    is_dry_run = true;
  }
  return is_dry_run;
}

Answer<FieldValidation> RestRequest::HowToValidate(std::string_view method) const {
  const std::string_view value = target.Query("fieldValidation");
  if (const auto how = api::ParseFieldValidation(value)) return *how;
  return Refuse(UnsupportedOption(
      method, "fieldValidation",
      fmt::format("Unsupported value: \"{}\": supported values: \"\", \"Ignore\", \"Strict\", "
                  "\"Warn\"",
                  value)));
}

Answer<std::optional<int64_t>> RestRequest::Number(std::string_view parameter) const {
  const std::string_view value = target.Query(parameter);
  if (value.empty()) return std::nullopt;
  const auto number = base::ParseInt(value);
  if (!number) {
    return Refuse(
        BadRequest(fmt::format("{}: Invalid value: \"{}\": must be a number", parameter, value)));
  }
  return number;
}

std::optional<RestRequest> ParseRestRequest(net::Target target) {
  const auto& segments = target.segments;
  size_t at = 0;
  std::string_view group;
  std::string_view version;
  if (segments.size() >= 2 && segments[0] == "api") {
    version = segments[1];
    at = 2;
  } else if (segments.size() >= 3 && segments[0] == "apis") {
    group = segments[1];
    version = segments[2];
    at = 3;
  } else {
    return std::nullopt;
  }
  // An empty segment is a mistake in the path, never a name.
  for (size_t i = at; i < segments.size(); ++i) {
    if (segments[i].empty()) return std::nullopt;
  }
  const size_t left = segments.size() - at;
  if (left == 0 || left > 5) return std::nullopt;

  RestRequest request;
  const bool is_in_namespace = left >= 3 && segments[at] == "namespaces" &&
                               api::FindResource(group, version, segments[at + 2]) != nullptr;
  if (is_in_namespace) {
    request.namespace_name = segments[at + 1];
    at += 2;
  }
  request.resource = api::FindResource(group, version, segments[at]);
  if (request.resource == nullptr || (is_in_namespace && !request.resource->namespaced)) {
    return std::nullopt;
  }
  ++at;
  if (at < segments.size()) request.name = segments[at++];
  if (at < segments.size()) request.subresource = segments[at++];
  if (at < segments.size()) return std::nullopt;
  // Across namespaces only collections can be read.
  if (request.resource->namespaced && !is_in_namespace && !request.name.empty()) {
    return std::nullopt;
  }
  request.target = std::move(target);
  return request;
}

}  // namespace local::server
