#include "cluster/answer_error.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "api/resources.h"
#include "base/strings.h"
#include "net/http/failed_answer.h"
#include "text/json.h"

namespace cluster {
namespace {

using base::Code;

// How much of another program's text is quoted in our line.
constexpr size_t kMaxQuoted = 2000;
// The same for an answer that is not a metav1.Status.
constexpr size_t kMaxQuotedBody = 512;
constexpr std::string_view kNoSuchResource = "the server could not find the requested resource";

// The reasons that say more than the HTTP status does (metav1.StatusReason,
// k8s.io/apimachinery/pkg/apis/meta/v1/types.go).
Code CodeFromReason(std::string_view reason, int http_status) {
  if (reason == "AlreadyExists") return Code::kAlreadyExists;
  if (reason == "ServerTimeout") return Code::kTimeout;
  return net::CodeFromStatus(http_status);
}

base::Error FromWebPage(int status, const std::string& title) {
  Code code = net::CodeFromStatus(status);
  // It is not an object that is missing: the server does not know the path.
  if (code == Code::kNotFound || status < 400) code = Code::kUnavailable;
  return {code,
          fmt::format("a web page came back instead of an answer (HTTP {}{}): is server in the "
                      "kubeconfig an API server, and not a login page or a proxy before it?",
                      status, title.empty() ? "" : fmt::format(", \"{}\"", title)),
          0};
}

std::string_view PathOf(const net::HttpRequest& request) {
  return std::string_view(request.target).substr(0, request.target.find('?'));
}

// The kind in a path such as "/apis/kubeflow.org/v1/namespaces/team/pytorchjobs/x".
const api::Resource* ResourceOf(std::string_view path) {
  std::vector<std::string> parts = base::Split(path, '/');
  if (parts.size() < 5 || parts[1] != "apis") return nullptr;
  const size_t plural = parts[4] == "namespaces" && parts.size() > 6 ? 6 : 4;
  return api::FindResource(parts[2], parts[3], parts[plural]);
}

// Whether a server says of a path, not of an object, that there is none.
bool IsUnknownPath(int status, std::string_view body) {
  if (status != 404) return false;
  if (const auto json = text::ParseJson(body); json && json->is_object()) {
    return text::GetString(*json, {"message"}) == kNoSuchResource;
  }
  return base::Trim(body).starts_with("404 page not found");
}

// For a path that every API server knows. Nodes answer for subresources.
std::optional<base::Error> WrongServer(std::string_view path) {
  const bool has_subresource = std::count(path.begin(), path.end(), '/') > 6;
  if (path != "/version" && (!path.starts_with("/api/v1/") || has_subresource)) return std::nullopt;
  return base::Error{Code::kInvalidArgument,
                     fmt::format("the server knows no {} (HTTP 404): is server in the kubeconfig "
                                 "an API server, and is the path in its URL right?",
                                 path),
                     0};
}

// For a kind that the cluster does not know.
std::optional<base::Error> MissingKind(std::string_view path) {
  const api::Resource* const resource = ResourceOf(path);
  if (resource == nullptr) return std::nullopt;
  const std::string_view hint =
      resource->group == "kubeflow.org"
          ? ": an administrator installs them with `muster install`, or with Kubeflow's training "
            "operator"
          : "";
  return base::Error{
      Code::kInvalidArgument,
      fmt::format("the cluster knows no {} ({}){}", resource->kind, resource->api_version(), hint),
      0};
}

}  // namespace

base::Error ErrorFromStatus(int http_status, std::string_view body) {
  base::Error error{net::CodeFromStatus(http_status), "", 0};
  const base::Result<text::Json> status = text::ParseJson(body);
  if (status && text::GetString(*status, {"kind"}) == "Status") {
    const std::string_view reason = text::GetString(*status, {"reason"});
    error.code = CodeFromReason(reason, http_status);
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

base::Error ErrorFromAnswer(const net::HttpRequest& request, int status,
                            const net::Headers& headers, std::string_view body) {
  if (status >= 300 && status < 400) {
    return {Code::kUnavailable,
            fmt::format("the answer is a redirect to {} (HTTP {}): is server in the kubeconfig an "
                        "API server?",
                        base::OneLine(net::FindHeader(headers, "Location"), kMaxQuoted), status),
            0};
  }
  if (const auto title = net::TitleOfWebPage(headers, body)) return FromWebPage(status, *title);
  if (IsUnknownPath(status, body)) {
    if (auto wrong = WrongServer(PathOf(request))) return *wrong;
    if (auto missing = MissingKind(PathOf(request))) return *missing;
  }
  base::Error error = ErrorFromStatus(status, body);
  error.message = base::OneLine(error.message, kMaxQuoted);
  if (status == 429) {
    // Some proxies give a date instead of seconds.
    const auto after = base::ParseInt(net::FindHeader(headers, "Retry-After"));
    error.message = fmt::format("the server has too much to do (HTTP 429): try again {}: {}",
                                after ? fmt::format("in {} s", *after) : "later", error.message);
  }
  return error;
}

base::Error ErrorFromGarbage(const net::HttpRequest& request, const net::Headers& headers,
                             std::string_view body, std::string_view why) {
  if (const auto title = net::TitleOfWebPage(headers, body)) return FromWebPage(200, *title);
  return {Code::kInternal,
          fmt::format("{} {}: the answer is not JSON: {}", request.method, PathOf(request), why),
          0};
}

}  // namespace cluster
