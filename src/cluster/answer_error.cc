#include "cluster/answer_error.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <vector>

#include "api/resources.h"
#include "base/strings.h"
#include "cluster/client.h"

namespace cluster {
namespace {

using base::Code;

// Of what somebody else wrote, to keep a line a line.
constexpr size_t kMaxQuoted = 2000;
constexpr std::string_view kNoSuchResource = "the server could not find the requested resource";

// Without line ends and control characters, and not endless.
std::string Quotable(std::string_view text) {
  std::string line;
  for (const char c : base::Trim(text)) {
    if (line.size() >= kMaxQuoted) return line + "...";
    const bool is_blank = static_cast<unsigned char>(c) <= ' ' || c == 0x7f;
    if (!is_blank) {
      line += c;
    } else if (!line.empty() && line.back() != ' ') {
      line += ' ';
    }
  }
  return line;
}

bool IsHtml(const net::Headers& headers, std::string_view body) {
  if (base::ToLower(net::FindHeader(headers, "Content-Type")).find("html") != std::string::npos) {
    return true;
  }
  const std::string start = base::ToLower(base::Trim(body.substr(0, 64)));
  return start.starts_with("<!doctype html") || start.starts_with("<html");
}

// What the page calls itself.
std::string TitleOf(std::string_view body) {
  const std::string page = base::ToLower(body.substr(0, 64 << 10));
  const size_t tag = page.find("<title");
  const size_t begin = tag == std::string::npos ? tag : page.find('>', tag);
  const size_t end = begin == std::string::npos ? begin : page.find('<', begin);
  if (end == std::string::npos) return "";
  const std::string title = Quotable(body.substr(begin + 1, end - begin - 1).substr(0, 100));
  return title.empty() ? "" : fmt::format(", \"{}\"", title);
}

base::Error FromHtml(int status, std::string_view body) {
  Code code = ErrorFromStatus(status, "").code;
  // No object is missing: what answered knows of none.
  if (code == Code::kNotFound || status < 400) code = Code::kUnavailable;
  return {code,
          fmt::format("a web page came back instead of an answer (HTTP {}{}): is server in the "
                      "kubeconfig an API server, and not a login page or a proxy before it?",
                      status, TitleOf(body)),
          0};
}

std::string_view PathOf(const net::HttpRequest& request) {
  return std::string_view(request.target).substr(0, request.target.find('?'));
}

// "/apis/kubeflow.org/v1/namespaces/team/pytorchjobs/x": the kind that it is about.
const api::Resource* ResourceOf(std::string_view path) {
  std::vector<std::string> parts = base::Split(path, '/');
  if (parts.size() < 5 || parts[1] != "apis") return nullptr;
  const size_t plural = parts[4] == "namespaces" && parts.size() > 6 ? 6 : 4;
  return api::FindResource(parts[2], parts[3], parts[plural]);
}

// The cluster does not know the kind at all.
std::optional<base::Error> MissingKind(const net::HttpRequest& request, int status,
                                       std::string_view body) {
  if (status != 404) return std::nullopt;
  const api::Resource* const resource = ResourceOf(PathOf(request));
  if (resource == nullptr) return std::nullopt;
  if (const auto json = text::ParseJson(body); json && json->is_object()) {
    if (text::GetString(*json, {"message"}) != kNoSuchResource) return std::nullopt;
  } else if (!base::Trim(body).starts_with("404 page not found")) {
    return std::nullopt;
  }
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

base::Error ErrorFromAnswer(const net::HttpRequest& request, int status,
                            const net::Headers& headers, std::string_view body) {
  if (status >= 300 && status < 400) {
    return {Code::kUnavailable,
            fmt::format("the answer is a redirect to {} (HTTP {}): is server in the kubeconfig an "
                        "API server?",
                        Quotable(net::FindHeader(headers, "Location")), status),
            0};
  }
  if (IsHtml(headers, body)) return FromHtml(status, body);
  if (auto missing = MissingKind(request, status, body)) return *missing;
  base::Error error = ErrorFromStatus(status, body);
  error.message = Quotable(error.message);
  if (status == 429) {
    const std::string_view after = net::FindHeader(headers, "Retry-After");
    error.message =
        fmt::format("the server has too much to do (HTTP 429): try again {}: {}",
                    after.empty() ? "later" : fmt::format("in {} s", after), error.message);
  }
  return error;
}

base::Error ErrorFromGarbage(const net::HttpRequest& request, const net::Headers& headers,
                             std::string_view body, std::string_view why) {
  if (IsHtml(headers, body)) return FromHtml(200, body);
  return {Code::kInternal,
          fmt::format("{} {}: the answer is not JSON: {}", request.method, PathOf(request), why),
          0};
}

}  // namespace cluster
