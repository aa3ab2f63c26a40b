#include "arena/submit/model_registry.h"

#include <fmt/format.h>

#include <functional>
#include <memory>

#include "arena/app/services.h"
#include "arena/app/web_service.h"
#include "base/file.h"
#include "base/log.h"
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
  using Send = std::function<base::Result<net::HttpResponse>(net::HttpRequest)>;
  // `name` is for messages.
  Registry(std::string name, Send send) : name_(std::move(name)), send_(std::move(send)) {}

  const std::string& name() const { return name_; }

  base::Result<Answer> Post(std::string_view path, const text::Json& body) const {
    const net::HttpRequest request{
        "POST",
        fmt::format("/api/2.0/mlflow/{}", path),
        {{"Content-Type", "application/json"}, {"Accept", "application/json"}},
        text::ToJson(body)};
    auto sent = send_(request);
    if (!sent) return Fail(sent.error().Wrap(name_));
    const net::HttpResponse& response = *sent;
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
  std::string name_;
  Send send_;
};

base::Result<WebService> ServiceAt(const std::string& uri, const base::Environment& environment) {
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

base::Result<Registry> RegistryAt(const std::string& uri, const base::Environment& environment) {
  auto at = ServiceAt(uri, environment);
  if (!at) return Fail(at.error().Wrap(kUriVariable));
  const auto service = std::make_shared<WebService>(std::move(*at));
  return Registry(fmt::format("model registry {}", service->url().Authority()),
                  [service, authorization = Authorization(service->url(), environment)](
                      net::HttpRequest request) {
                    if (!authorization.empty()) {
                      request.headers.emplace_back("Authorization", authorization);
                    }
                    return service->Send(std::move(request));
                  });
}

// MLflow as a service of the cluster.
base::Result<Registry> RegistryOf(cluster::Client* cluster) {
  std::string proxy;
  if (cluster != nullptr) {
    TRY_ASSIGN(proxy,
               FindServiceProxy(*cluster, {{"app.kubernetes.io/name in (ack-mlflow,mlflow)", ""}}));
  }
  if (proxy.empty()) {
    return Fail(
        Code::kInvalidArgument,
        fmt::format("{} is not set; it names the registry, as http://host:5000", kUriVariable));
  }
  base::LogInfo("{} is not set: the model is registered at {}", kUriVariable, proxy);
  return Registry("model registry " + proxy,
                  [cluster, proxy](net::HttpRequest request) -> base::Result<net::HttpResponse> {
                    auto body = cluster->Raw(request.method, proxy + request.target, request.body);
                    if (body) return net::HttpResponse{200, {}, std::move(*body)};
                    // What MLflow refuses: the API server passes its answer on.
                    const auto refusal = text::ParseJson(body.error().message);
                    if (!refusal || !refusal->is_object()) return Fail(body.error());
                    return net::HttpResponse{400, {}, body.error().message};
                  });
}

}  // namespace

base::Result<std::string> RegisterModelVersion(const base::Environment& environment,
                                               cluster::Client* cluster,
                                               const ModelVersion& version) {
  const std::string uri = environment.GetOr(kUriVariable, "");
  TRY_ASSIGN(const Registry registry,
             uri.empty() ? RegistryOf(cluster) : RegistryAt(uri, environment));
  TRY_ASSIGN(const Answer made,
             registry.Post("registered-models/create", text::Object{{"name", version.name}}));
  if (!made.error_code.empty() && made.error_code != kExists) {
    return Fail(Code::kInvalidArgument, fmt::format("{}: {}", registry.name(), made.message));
  }
  TRY_ASSIGN(
      const Answer answer,
      registry.Post("model-versions/create", text::Object{{"name", version.name},
                                                          {"source", version.source},
                                                          {"description", version.description}}));
  if (!answer.error_code.empty()) {
    return Fail(Code::kInvalidArgument, fmt::format("{}: {}", registry.name(), answer.message));
  }
  const std::string number(text::GetString(answer.body, {"model_version", "version"}));
  if (number.empty()) {
    return Fail(Code::kInternal, fmt::format("{}: its answer names no version", registry.name()));
  }
  return number;
}

}  // namespace arena
