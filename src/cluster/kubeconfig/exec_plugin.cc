#include "cluster/kubeconfig/exec_plugin.h"

#include <fmt/format.h>

#include "base/strings.h"
#include "text/json.h"

namespace cluster {
namespace {

text::Json ClusterInfo(const KubeCluster& cluster, std::string_view ca_pem) {
  text::Object info{{"server", cluster.server}};
  if (!cluster.tls_server_name.empty()) info["tls-server-name"] = cluster.tls_server_name;
  if (cluster.is_insecure) info["insecure-skip-tls-verify"] = true;
  if (!ca_pem.empty()) info["certificate-authority-data"] = base::Base64Encode(ca_pem);
  if (!cluster.proxy_url.empty()) info["proxy-url"] = cluster.proxy_url;
  info["config"] = cluster.exec_config;
  return info;
}

}  // namespace

base::Error PluginRefusal(std::string message) {
  return {base::Code::kUnauthenticated, std::move(message), 0};
}

std::string ExecInfo(const ExecPlugin& plugin, const KubeCluster& cluster, std::string_view ca_pem,
                     bool is_interactive) {
  text::Object spec{{"interactive", is_interactive}};
  if (plugin.wants_cluster_info) spec["cluster"] = ClusterInfo(cluster, ca_pem);
  return text::ToJson(text::Object{
      {"kind", "ExecCredential"}, {"apiVersion", plugin.api_version}, {"spec", std::move(spec)}});
}

base::Result<ExecCredential> ParseExecCredential(std::string_view text,
                                                 std::string_view api_version) {
  const auto json = text::ParseJson(text);
  if (!json) {
    return base::Fail(PluginRefusal(
        fmt::format("it printed no ExecCredential: {}",
                    base::Trim(text).empty() ? "nothing at all" : json.error().message)));
  }
  const std::string_view kind = text::GetString(*json, {"kind"});
  const std::string_view version = text::GetString(*json, {"apiVersion"});
  if (kind != "ExecCredential") return base::Fail(PluginRefusal("it printed no ExecCredential"));
  if (version != api_version) {
    return base::Fail(PluginRefusal(fmt::format(
        "it answered in {}, the kubeconfig says {}: make them the same", version, api_version)));
  }
  ExecCredential credential;
  credential.token = text::GetString(*json, {"status", "token"});
  credential.cert_pem = text::GetString(*json, {"status", "clientCertificateData"});
  credential.key_pem = text::GetString(*json, {"status", "clientKeyData"});
  if (credential.cert_pem.empty() != credential.key_pem.empty()) {
    return base::Fail(
        PluginRefusal("it gave a certificate without its key, or the other way round"));
  }
  if (credential.token.empty() && credential.cert_pem.empty()) {
    return base::Fail(PluginRefusal("it gave neither a token nor a client certificate"));
  }
  for (const char c : credential.token) {
    if (c <= ' ' || c >= 0x7f)
      return base::Fail(PluginRefusal("its token contains a blank or a line end"));
  }
  const std::string_view expires = text::GetString(*json, {"status", "expirationTimestamp"});
  if (!expires.empty()) {
    const auto time = base::ParseRfc3339(expires);
    if (!time) return base::Fail(PluginRefusal("its expirationTimestamp is not an RFC 3339 time"));
    credential.expires = *time;
  }
  return credential;
}

base::Result<bool> IsPluginInteractive(const ExecPlugin& plugin, bool has_terminal) {
  switch (plugin.interactive) {
    case ExecPlugin::Interactive::kNever:
      return false;
    case ExecPlugin::Interactive::kIfAvailable:
      return has_terminal;
    case ExecPlugin::Interactive::kAlways:
      break;
  }
  if (has_terminal) return true;
  return base::Fail(
      PluginRefusal("it has to ask you something (interactiveMode: Always), and standard "
                    "input is not a terminal"));
}

}  // namespace cluster
