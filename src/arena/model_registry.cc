#include "arena/model_registry.h"

#include <fmt/format.h>

#include <limits>

#include "base/strings.h"
#include "net/http_client.h"
#include "text/json.h"

namespace arena {
namespace {

using base::Code;
using base::Fail;

constexpr std::chrono::seconds kTimeout{10};
constexpr std::string_view kUriVariable = "MLFLOW_TRACKING_URI";
// MLflow's word for a model that has been registered before.
constexpr std::string_view kExists = "RESOURCE_ALREADY_EXISTS";

// MLflow answers an error with {"error_code": ..., "message": ...}.
struct Answer {
  text::Json body;
  std::string error_code;  // "" is success
  std::string message;
};

class Registry {
 public:
  Registry(RegistryAddress address, std::string authorization)
      : address_(std::move(address)),
        authorization_(std::move(authorization)),
        client_(net::HttpClient::Tcp(address_.host, address_.port, kTimeout)) {}

  base::Result<Answer> Post(std::string_view path, const text::Json& body) {
    net::HttpRequest request{"POST",
                             fmt::format("{}/api/2.0/mlflow/{}", address_.path, path),
                             {{"Host", fmt::format("{}:{}", address_.host, address_.port)},
                              {"Content-Type", "application/json"},
                              {"Accept", "application/json"}},
                             text::ToJson(body)};
    if (!authorization_.empty()) request.headers.emplace_back("Authorization", authorization_);
    TRY_ASSIGN(const net::HttpResponse response, client_->Send(request));
    Answer answer;
    if (auto json = text::ParseJson(response.body)) answer.body = std::move(*json);
    if (response.status < 300 && answer.body.is_object()) return answer;
    answer.error_code = text::GetString(answer.body, {"error_code"});
    answer.message = text::GetString(answer.body, {"message"});
    if (answer.message.empty()) {
      answer.message =
          fmt::format("it answered {} with status {}", request.target, response.status);
    }
    if (response.status == 401) {
      answer.message += " (MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD say who asks)";
    }
    if (answer.error_code.empty()) answer.error_code = std::to_string(response.status);
    return answer;
  }

 private:
  const RegistryAddress address_;
  const std::string authorization_;
  const std::unique_ptr<net::HttpClient> client_;
};

}  // namespace

base::Result<RegistryAddress> ParseTrackingUri(std::string_view uri) {
  const size_t scheme_end = uri.find("://");
  const std::string scheme =
      scheme_end == std::string_view::npos ? "" : base::ToLower(uri.substr(0, scheme_end));
  if (scheme == "https") {
    return Fail(Code::kInvalidArgument,
                fmt::format("{}: muster speaks plain http to a model registry, not https yet",
                            kUriVariable));
  }
  if (scheme != "http") {
    return Fail(Code::kInvalidArgument,
                fmt::format("{}: it should look like http://host:5000", kUriVariable));
  }
  std::string_view rest = uri.substr(scheme_end + 3);
  const size_t slash = rest.find('/');
  RegistryAddress address;
  if (slash != std::string_view::npos) address.path = rest.substr(slash);
  while (address.path.ends_with('/')) address.path.pop_back();
  std::string_view authority = rest.substr(0, slash);
  if (const size_t at = authority.rfind('@'); at != std::string_view::npos) {
    address.credentials = authority.substr(0, at);
    authority.remove_prefix(at + 1);
  }
  const size_t colon = authority.rfind(':');
  const bool is_ip6 = authority.ends_with(']');
  if (colon != std::string_view::npos && !is_ip6) {
    const auto port = base::ParseInt(authority.substr(colon + 1));
    if (!port || *port < 1 || *port > std::numeric_limits<uint16_t>::max()) {
      return Fail(Code::kInvalidArgument,
                  fmt::format("{}: \"{}\" is no port", kUriVariable, authority.substr(colon + 1)));
    }
    address.port = static_cast<uint16_t>(*port);
    authority = authority.substr(0, colon);
  }
  if (authority.starts_with('[') && authority.ends_with(']')) {
    authority = authority.substr(1, authority.size() - 2);
  }
  if (authority.empty()) {
    return Fail(Code::kInvalidArgument, fmt::format("{}: it names no host", kUriVariable));
  }
  address.host = authority;
  return address;
}

base::Result<std::string> RegisterModelVersion(const base::Environment& environment,
                                               const ModelVersion& version) {
  const std::string uri = environment.GetOr(kUriVariable, "");
  if (uri.empty()) {
    return Fail(
        Code::kInvalidArgument,
        fmt::format("{} is not set; it names the registry, as http://host:5000", kUriVariable));
  }
  TRY_ASSIGN(RegistryAddress address, ParseTrackingUri(uri));
  std::string credentials = address.credentials;
  if (const auto user = environment.Get("MLFLOW_TRACKING_USERNAME"); user && !user->empty()) {
    credentials = *user + ":" + environment.GetOr("MLFLOW_TRACKING_PASSWORD", "");
  }
  const std::string where = fmt::format("model registry {}:{}", address.host, address.port);
  Registry registry(std::move(address),
                    credentials.empty() ? "" : "Basic " + base::Base64Encode(credentials));
  const auto post = [&](std::string_view path, const text::Json& body) -> base::Result<Answer> {
    auto answer = registry.Post(path, body);
    if (!answer) return Fail(answer.error().Wrap(where));
    return answer;
  };
  TRY_ASSIGN(const Answer made,
             post("registered-models/create", text::Object{{"name", version.name}}));
  if (!made.error_code.empty() && made.error_code != kExists) {
    return Fail(Code::kInvalidArgument, fmt::format("{}: {}", where, made.message));
  }
  TRY_ASSIGN(const Answer answer,
             post("model-versions/create", text::Object{{"name", version.name},
                                                        {"source", version.source},
                                                        {"description", version.description}}));
  if (!answer.error_code.empty()) {
    return Fail(Code::kInvalidArgument, fmt::format("{}: {}", where, answer.message));
  }
  const std::string number(text::GetString(answer.body, {"model_version", "version"}));
  if (number.empty()) {
    return Fail(Code::kInternal, fmt::format("{}: its answer names no version", where));
  }
  return number;
}

}  // namespace arena
