#include "cluster/kubeconfig/kubeconfig.h"

#include <fmt/format.h>

#include "base/strings.h"
#include "cluster/kubeconfig/reader.h"
#include "text/yaml.h"

namespace cluster {
namespace {

using base::Code;
using base::Fail;

constexpr std::string_view kExecExtension = "client.authentication.k8s.io/exec";

base::Result<ExecPlugin::Interactive> ParseInteractive(const KubeconfigReader& reader,
                                                       std::string_view api_version) {
  TRY_ASSIGN(const std::string mode, reader.String("interactiveMode"));
  using Interactive = ExecPlugin::Interactive;
  if (mode == "Never") return Interactive::kNever;
  if (mode == "Always") return Interactive::kAlways;
  if (mode == "IfAvailable") return Interactive::kIfAvailable;
  if (mode.empty() && api_version != kExecV1) return Interactive::kIfAvailable;
  return Fail(reader.Wrong("interactiveMode", fmt::format("is {}: say Never, IfAvailable or Always",
                                                          mode.empty() ? "missing" : mode)));
}

base::Result<ExecPlugin> ParseExec(const KubeconfigReader& reader) {
  ExecPlugin exec;
  TRY_ASSIGN(exec.api_version, reader.String("apiVersion"));
  if (exec.api_version != kExecV1 && exec.api_version != kExecV1Beta1) {
    return Fail(reader.Wrong("apiVersion", fmt::format("\"{}\" is not known: muster speaks {} and "
                                                       "{}; update the program and its entry",
                                                       exec.api_version, kExecV1, kExecV1Beta1)));
  }
  TRY_ASSIGN(exec.command, reader.String("command"));
  if (exec.command.empty()) return Fail(reader.Wrong("command", "is missing"));
  // A bare name is searched in PATH; other paths are relative to the file.
  if (exec.command.find('/') != std::string::npos) exec.command = reader.Absolute(exec.command);
  TRY_ASSIGN(exec.args, reader.Strings("args"));
  TRY_ASSIGN(const auto variables, reader.Items("env"));
  for (const KubeconfigReader& variable : variables) {
    TRY_ASSIGN(std::string name, variable.String("name"));
    TRY_ASSIGN(std::string value, variable.String("value"));
    if (name.empty() || name.find('=') != std::string::npos) {
      return Fail(variable.Wrong("name", "is not a name of an environment variable"));
    }
    exec.env.emplace_back(std::move(name), std::move(value));
  }
  TRY_ASSIGN(exec.install_hint, reader.String("installHint"));
  TRY_ASSIGN(exec.wants_cluster_info, reader.Bool("provideClusterInfo"));
  TRY_ASSIGN(exec.interactive, ParseInteractive(reader, exec.api_version));
  return exec;
}

base::Result<KubeCluster> ParseCluster(const KubeconfigReader& reader) {
  KubeCluster cluster;
  TRY_ASSIGN(cluster.server, reader.String("server"));
  TRY_ASSIGN(cluster.tls_server_name, reader.String("tls-server-name"));
  TRY_ASSIGN(cluster.ca_file, reader.FilePath("certificate-authority"));
  TRY_ASSIGN(cluster.ca_data, reader.Base64("certificate-authority-data"));
  TRY_ASSIGN(cluster.proxy_url, reader.String("proxy-url"));
  TRY_ASSIGN(cluster.is_insecure, reader.Bool("insecure-skip-tls-verify"));
  TRY_ASSIGN(const auto extensions, reader.Items("extensions"));
  for (const KubeconfigReader& entry : extensions) {
    TRY_ASSIGN(const std::string name, entry.String("name"));
    if (name == kExecExtension) cluster.exec_config = entry.Value("extension");
  }
  return cluster;
}

base::Status ParseImpersonation(const KubeconfigReader& reader, KubeUser& user) {
  TRY_ASSIGN(user.as, reader.String("as"));
  TRY_ASSIGN(user.as_uid, reader.String("as-uid"));
  TRY_ASSIGN(user.as_groups, reader.Strings("as-groups"));
  TRY_ASSIGN(const KubeconfigReader extra, reader.Object("as-user-extra"));
  for (const std::string& key : extra.Keys()) {
    TRY_ASSIGN(const auto values, extra.Strings(key));
    for (const std::string& value : values) user.as_extra.emplace_back(key, value);
  }
  const bool has_more = !user.as_uid.empty() || !user.as_groups.empty() || !user.as_extra.empty();
  if (user.as.empty() && has_more) {
    return Fail(reader.Wrong("as", "is missing: uid, groups and extra are of a user to act as"));
  }
  return {};
}

base::Result<KubeUser> ParseUser(const KubeconfigReader& reader) {
  KubeUser user;
  TRY_ASSIGN(user.cert_file, reader.FilePath("client-certificate"));
  TRY_ASSIGN(user.cert_data, reader.Base64("client-certificate-data"));
  TRY_ASSIGN(user.key_file, reader.FilePath("client-key"));
  TRY_ASSIGN(user.key_data, reader.Base64("client-key-data"));
  TRY_ASSIGN(user.token, reader.String("token"));
  TRY_ASSIGN(user.token_file, reader.FilePath("tokenFile"));
  TRY_ASSIGN(user.username, reader.String("username"));
  TRY_ASSIGN(user.password, reader.String("password"));
  TRY(ParseImpersonation(reader, user));
  TRY_ASSIGN(const KubeconfigReader provider, reader.Object("auth-provider"));
  TRY_ASSIGN(user.auth_provider, provider.String("name"));
  if (reader.Has("exec")) {
    TRY_ASSIGN(const KubeconfigReader exec, reader.Object("exec"));
    TRY_ASSIGN(user.exec, ParseExec(exec));
  }
  return user;
}

base::Result<KubeContext> ParseContext(const KubeconfigReader& reader) {
  KubeContext context;
  TRY_ASSIGN(context.cluster, reader.String("cluster"));
  TRY_ASSIGN(context.user, reader.String("user"));
  TRY_ASSIGN(context.namespace_name, reader.String("namespace"));
  return context;
}

// Converts a list of {name, <member>} to a map by name; the first entry of a name wins.
template <typename T, typename Parse>
base::Status ParseEntries(const KubeconfigReader& root, std::string_view list,
                          std::string_view member, Parse parse, std::map<std::string, T>& out) {
  TRY_ASSIGN(const auto entries, root.Items(list));
  if (entries.size() > kMaxKubeconfigEntries) {
    return Fail(root.Wrong(list, fmt::format("has more than {} entries", kMaxKubeconfigEntries)));
  }
  for (const KubeconfigReader& entry : entries) {
    TRY_ASSIGN(std::string name, entry.String("name"));
    if (name.empty()) return Fail(entry.Wrong("name", "is missing"));
    TRY_ASSIGN(const KubeconfigReader body, entry.Object(member));
    TRY_ASSIGN(T parsed, parse(body));
    out.emplace(std::move(name), std::move(parsed));
  }
  return {};
}

template <typename T>
void AddMissing(std::map<std::string, T>& merged, std::map<std::string, T> next) {
  merged.merge(next);
}

base::Error NoContext(const Kubeconfig& config, const std::string& wanted) {
  std::string names;
  size_t count = 0;
  for (const auto& [name, context] : config.contexts) {
    if (++count > 20) {
      names += ", ...";
      break;
    }
    names += (names.empty() ? "" : ", ") + name;
  }
  if (names.empty()) return {Code::kNotFound, "the kubeconfig has no contexts", 0};
  if (wanted.empty()) {
    return {Code::kNotFound,
            fmt::format("no current-context is set: choose one with --context, of {}", names), 0};
  }
  return {Code::kNotFound,
          fmt::format("context \"{}\" does not exist; there are: {}", wanted, names), 0};
}

base::Status CheckUser(const std::string& name, const KubeUser& user) {
  const auto wrong = [&](std::string_view what) {
    return Fail(Code::kInvalidArgument, fmt::format("user \"{}\": {}", name, what));
  };
  if (!user.auth_provider.empty()) {
    return wrong(
        fmt::format("auth-provider \"{}\" is gone from Kubernetes clients: use an exec "
                    "credential plugin instead",
                    user.auth_provider));
  }
  const bool has_cert = !user.cert_file.empty() || !user.cert_data.empty();
  const bool has_key = !user.key_file.empty() || !user.key_data.empty();
  if (has_cert && !has_key) return wrong("a client-certificate without its client-key");
  if (has_key && !has_cert) return wrong("a client-key without its client-certificate");
  const bool has_token = !user.token.empty() || !user.token_file.empty();
  const bool has_basic = !user.username.empty() || !user.password.empty();
  if (int{has_token} + int{has_basic} + int{user.exec.has_value()} > 1) {
    return wrong("more than one of token, username/password and exec: keep one");
  }
  return {};
}

base::Status CheckCluster(const std::string& name, const KubeCluster& cluster) {
  const auto wrong = [&](std::string_view what) {
    return Fail(Code::kInvalidArgument, fmt::format("cluster \"{}\": {}", name, what));
  };
  if (cluster.server.empty()) return wrong("server is missing");
  if (cluster.is_insecure && (!cluster.ca_file.empty() || !cluster.ca_data.empty())) {
    return wrong("insecure-skip-tls-verify cannot be combined with a certificate-authority");
  }
  return {};
}

}  // namespace

base::Result<Kubeconfig> ParseKubeconfig(std::string_view text, std::string_view directory) {
  if (text.size() > kMaxKubeconfigBytes) {
    return Fail(Code::kExhausted, fmt::format("larger than {} MiB: this is not a kubeconfig",
                                              kMaxKubeconfigBytes >> 20));
  }
  TRY_ASSIGN(const text::Json json, text::ParseYaml(text));
  Kubeconfig config;
  if (json.is_null()) return config;
  if (!json.is_object()) return Fail(Code::kInvalidArgument, "this is not a kubeconfig");
  const KubeconfigReader root(json, "", directory);
  TRY_ASSIGN(const std::string kind, root.String("kind"));
  if (!kind.empty() && kind != "Config") {
    return Fail(
        root.Wrong("kind", fmt::format("is {}, not Config: this is not a kubeconfig", kind)));
  }
  TRY_ASSIGN(config.current_context, root.String("current-context"));
  TRY(ParseEntries(root, "clusters", "cluster", ParseCluster, config.clusters));
  TRY(ParseEntries(root, "users", "user", ParseUser, config.users));
  TRY(ParseEntries(root, "contexts", "context", ParseContext, config.contexts));
  return config;
}

void MergeKubeconfig(Kubeconfig& merged, Kubeconfig next) {
  if (merged.current_context.empty()) merged.current_context = std::move(next.current_context);
  AddMissing(merged.clusters, std::move(next.clusters));
  AddMissing(merged.users, std::move(next.users));
  AddMissing(merged.contexts, std::move(next.contexts));
}

base::Result<KubeSelection> SelectContext(const Kubeconfig& config, const std::string& context) {
  const std::string& wanted = context.empty() ? config.current_context : context;
  const auto found = config.contexts.find(wanted);
  if (wanted.empty() || found == config.contexts.end()) return Fail(NoContext(config, wanted));
  KubeSelection selection;
  selection.context_name = wanted;
  selection.cluster_name = found->second.cluster;
  selection.user_name = found->second.user;
  selection.namespace_name = found->second.namespace_name;
  const auto cluster = config.clusters.find(selection.cluster_name);
  if (cluster == config.clusters.end()) {
    return Fail(Code::kInvalidArgument, fmt::format("context \"{}\" names cluster \"{}\", which "
                                                    "does not exist",
                                                    wanted, selection.cluster_name));
  }
  selection.cluster = cluster->second;
  TRY(CheckCluster(selection.cluster_name, selection.cluster));
  if (selection.user_name.empty()) return selection;
  const auto user = config.users.find(selection.user_name);
  if (user == config.users.end()) {
    return Fail(Code::kInvalidArgument,
                fmt::format("context \"{}\" names user \"{}\", who does not exist", wanted,
                            selection.user_name));
  }
  selection.user = user->second;
  TRY(CheckUser(selection.user_name, selection.user));
  return selection;
}

}  // namespace cluster
