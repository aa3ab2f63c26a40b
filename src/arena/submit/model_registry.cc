#include "arena/submit/model_registry.h"

#include <fmt/format.h>

#include "arena/app/web_service.h"
#include "base/file.h"
#include "base/strings.h"
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
  std::string error_code;  // "" on success
  std::string message;
};

class Registry {
 public:
  Registry(WebService service, std::string authorization)
      : service_(std::move(service)), authorization_(std::move(authorization)) {}

  base::Result<Answer> Post(std::string_view path, const text::Json& body) {
    net::HttpRequest request{"POST",
                             fmt::format("/api/2.0/mlflow/{}", path),
                             {{"Content-Type", "application/json"}, {"Accept", "application/json"}},
                             text::ToJson(body)};
    if (!authorization_.empty()) request.headers.emplace_back("Authorization", authorization_);
    TRY_ASSIGN(const net::HttpResponse response, service_.Send(request));
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
  WebService service_;
  const std::string authorization_;
};

base::Result<WebService> RegistryAt(const std::string& uri, const base::Environment& environment) {
  WebServiceOptions options;
  options.timeout = kTimeout;
  options.is_insecure = environment.GetOr("MLFLOW_TRACKING_INSECURE_TLS", "") == "true";
  if (const auto path = environment.Get("MLFLOW_TRACKING_SERVER_CERT_PATH");
      path && !path->empty()) {
    TRY_ASSIGN(options.ca_pem, base::ReadFile(*path));
  }
  auto service = WebService::At(uri, environment, options);
  // The reason could quote a password.
  if (!service && service.error().code == Code::kInvalidArgument) {
    service.error().message = "it should look like http://host:5000 or https://host";
  }
  return service;
}

// Like MLflow's own clients: a token, else the user of the environment, else that of the URL.
std::string Authorization(const net::Url& url, const base::Environment& environment) {
  if (const auto token = environment.Get("MLFLOW_TRACKING_TOKEN"); token && !token->empty()) {
    return "Bearer " + *token;
  }
  std::string credentials = url.user_info;
  if (const auto user = environment.Get("MLFLOW_TRACKING_USERNAME"); user && !user->empty()) {
    credentials = *user + ":" + environment.GetOr("MLFLOW_TRACKING_PASSWORD", "");
  }
  return credentials.empty() ? "" : "Basic " + base::Base64Encode(credentials);
}

}  // namespace

base::Result<std::string> RegisterModelVersion(const base::Environment& environment,
                                               const ModelVersion& version) {
  const std::string uri = environment.GetOr(kUriVariable, "");
  if (uri.empty()) {
    return Fail(
        Code::kInvalidArgument,
        fmt::format("{} is not set; it names the registry, as http://host:5000", kUriVariable));
  }
  auto service = RegistryAt(uri, environment);
  if (!service) return Fail(service.error().Wrap(kUriVariable));
  const std::string where = fmt::format("model registry {}", service->url().Authority());
  std::string authorization = Authorization(service->url(), environment);
  Registry registry(std::move(*service), std::move(authorization));
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
