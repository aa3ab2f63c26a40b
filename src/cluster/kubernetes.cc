#include "cluster/kubernetes.h"

#include <fmt/format.h>
#include <unistd.h>

#include "base/file.h"
#include "base/strings.h"
#include "cluster/kubeconfig/certificate.h"
#include "cluster/kubeconfig/credentials.h"
#include "cluster/kubernetes_transport.h"
#include "net/curl/client.h"
#include "net/curl/proxy.h"
#include "net/socket/url.h"

namespace cluster {
namespace {

using base::Code;
using base::Fail;

// Where the kubelet mounts a pod's service account.
constexpr std::string_view kAccount = "/var/run/secrets/kubernetes.io/serviceaccount/";
constexpr std::string_view kReviewPath = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
constexpr std::string_view kTokenReviewPath = "/apis/authentication.k8s.io/v1/tokenreviews";

std::string Directory(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string AccountFile(std::string_view name) { return std::string(kAccount).append(name); }

base::Result<KubeSelection> ServiceAccount(const base::Environment& environment) {
  KubeSelection selection;
  selection.context_name = selection.cluster_name = "in-cluster";
  selection.user_name = "service-account";
  std::string host = environment.GetOr("KUBERNETES_SERVICE_HOST", "");
  if (host.empty()) {
    return Fail(Code::kNotFound,
                "this is not a pod of a cluster: KUBERNETES_SERVICE_HOST is not set");
  }
  if (host.find(':') != std::string::npos) host = "[" + host + "]";
  selection.cluster.server =
      fmt::format("https://{}:{}", host, environment.GetOr("KUBERNETES_SERVICE_PORT", "443"));
  selection.cluster.ca_file = AccountFile("ca.crt");
  selection.user.token_file = AccountFile("token");
  if (const auto name = base::ReadFile(AccountFile("namespace"), 4096)) {
    selection.namespace_name = base::Trim(*name);
  }
  return selection;
}

// "" for users without one, and for those whose plug-in has it.
base::Result<std::string> TokenOf(const KubeUser& user) {
  if (!user.token.empty() || user.token_file.empty()) return user.token;
  TRY_ASSIGN(const std::string token, ReadNamedFile("tokenFile", user.token_file));
  return std::string(base::Trim(token));
}

text::Json TokenReviewOf(const std::string& token) {
  return text::Object{{"apiVersion", "authentication.k8s.io/v1"},
                      {"kind", "TokenReview"},
                      {"spec", text::Object{{"token", token}}}};
}

// The user's name in the server's answer; "" if it does not let us ask, nullopt if it has no such
// review.
base::Result<std::optional<std::string>> AskWho(Client& client, std::string_view path,
                                                std::string_view review,
                                                std::initializer_list<std::string_view> where) {
  const auto body = client.Raw("POST", std::string(path), std::string(review));
  if (!body) {
    const Code code = body.error().code;
    if (code == Code::kNotFound) return std::nullopt;
    if (code == Code::kPermissionDenied) return std::string();
    return Fail(body.error());
  }
  const auto answer = text::ParseJson(*body);
  return answer ? std::string(text::GetString(*answer, where)) : std::string();
}

}  // namespace

std::vector<std::string> SplitKubeconfigList(std::string_view list) {
  std::vector<std::string> files;
  for (std::string& file : base::Split(list, ':')) {
    if (!file.empty()) files.push_back(std::move(file));
  }
  return files;
}

bool IsInCluster(const base::Environment& environment) {
  return environment.Get("KUBERNETES_SERVICE_HOST") &&
         ::access(AccountFile("token").c_str(), R_OK) == 0;
}

base::Result<KubeSelection> FindKubernetes(const KubernetesChoice& choice,
                                           const base::Environment& environment) {
  if (choice.files.empty()) return ServiceAccount(environment);
  Kubeconfig merged;
  std::string where;
  bool is_any_there = false;
  for (const std::string& path : choice.files) {
    where += (where.empty() ? "" : ":") + path;
    const auto text = base::ReadFile(path, kMaxKubeconfigBytes);
    if (!text) {
      if (text.error().code == Code::kNotFound && !choice.must_exist) continue;
      return Fail(text.error().Wrap("kubeconfig"));
    }
    is_any_there = true;
    auto parsed = ParseKubeconfig(*text, Directory(path));
    if (!parsed) return Fail(parsed.error().Wrap("kubeconfig " + path));
    MergeKubeconfig(merged, std::move(*parsed));
  }
  if (!is_any_there)
    return Fail(Code::kNotFound, fmt::format("kubeconfig {}: no such file", where));
  auto selection = SelectContext(merged, choice.context);
  if (!selection) return Fail(selection.error().Wrap("kubeconfig " + where));
  return selection;
}

base::Result<std::unique_ptr<Transport>> OpenKubernetes(const KubeSelection& selection,
                                                        const KubernetesOptions& options) {
  const KubeCluster& cluster = selection.cluster;
  net::CurlClientOptions http;
  auto url = net::ParseUrl(cluster.server);
  if (!url) {
    return Fail(url.error().Wrap(
        fmt::format("kubeconfig: cluster \"{}\": server", selection.cluster_name)));
  }
  http.url = std::move(*url);
  http.ca_pem = cluster.ca_data;
  if (http.ca_pem.empty() && !cluster.ca_file.empty()) {
    TRY_ASSIGN(http.ca_pem, ReadNamedFile("certificate-authority", cluster.ca_file));
  }
  http.is_insecure = cluster.is_insecure;
  http.tls_server_name = cluster.tls_server_name;
  http.is_write_heavy = options.is_write_heavy;
  http.proxy =
      cluster.proxy_url.empty() ? net::ProxyFor(http.url, options.environment) : cluster.proxy_url;
  Credentials::Options shown;
  shown.selection = selection;
  shown.has_terminal = options.has_terminal;
  shown.run_plugin = [environment = options.environment](
                         const ExecPlugin& plugin, const std::string& info, bool interactive) {
    return RunExecPlugin(plugin, info, interactive, environment);
  };
  auto credentials = std::make_unique<Credentials>(std::move(shown), options.clock);
  TRY_ASSIGN(auto client, net::CurlClient::Create(std::move(http)));
  return KubernetesTransport(std::move(client), std::move(credentials), options.pause,
                             options.returns_429);
}

base::Result<std::unique_ptr<Client>> ConnectToKubernetes(const KubeSelection& selection,
                                                          const KubernetesOptions& options) {
  TRY_ASSIGN(auto transport, OpenKubernetes(selection, options));
  return std::make_unique<Client>(std::move(transport), options.warnings);
}

base::Result<std::string> FindUserName(Client& client, const KubeSelection& selection) {
  const KubeUser& user = selection.user;
  if (!user.username.empty()) return "kubecfg:basicauth:" + user.username;
  TRY_ASSIGN(std::optional<std::string> name,
             AskWho(client, kReviewPath,
                    R"({"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"})",
                    {"status", "userInfo", "username"}));
  if (name && !name->empty()) return *name;
  TRY_ASSIGN(const std::string token, TokenOf(user));
  if (!token.empty()) {
    // Clusters before 1.28 have no SelfSubjectReview. The audit logs of others need no token.
    if (!name) {
      TRY_ASSIGN(name, AskWho(client, kTokenReviewPath, text::ToJson(TokenReviewOf(token)),
                              {"status", "user", "username"}));
    }
    return name.value_or("");
  }
  std::string pem = user.cert_data;
  if (pem.empty() && !user.cert_file.empty()) {
    TRY_ASSIGN(pem, ReadNamedFile("client-certificate", user.cert_file));
  }
  if (pem.empty()) return std::string();
  const auto certificate = ReadCertificate(pem);
  return certificate && !certificate->common_name.empty() ? certificate->common_name
                                                          : "kubecfg:certauth:admin";
}

}  // namespace cluster
