// kubeconfig files as kubectl reads them (clientcmd.v1). Pure: opens no file.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "text/json.h"

namespace cluster {

inline constexpr size_t kMaxKubeconfigBytes = 16 << 20;
// The most clusters, users or contexts in one file.
inline constexpr size_t kMaxKubeconfigEntries = 10'000;

// How to run a credential program (client.authentication.k8s.io).
struct ExecPlugin {
  enum class Interactive { kNever, kIfAvailable, kAlways };
  std::string api_version;
  std::string command;  // absolute, or a name to search in PATH
  std::vector<std::string> args;
  std::vector<std::pair<std::string, std::string>> env;
  std::string install_hint;
  bool wants_cluster_info = false;
  Interactive interactive = Interactive::kIfAvailable;
};

// Paths of files are absolute after parsing; data is decoded.
struct KubeCluster {
  std::string server;
  std::string tls_server_name;
  std::string ca_file;
  std::string ca_data;  // overrides ca_file
  std::string proxy_url;
  bool is_insecure = false;
  text::Json exec_config;  // extension client.authentication.k8s.io/exec, null when absent
};

struct KubeUser {
  std::string cert_file, cert_data;
  std::string key_file, key_data;
  std::string token, token_file;
  std::string username, password;
  std::string as, as_uid;
  std::vector<std::string> as_groups;
  std::vector<std::pair<std::string, std::string>> as_extra;
  std::optional<ExecPlugin> exec;
  std::string auth_provider;  // of old clients; none is supported
};

struct KubeContext {
  std::string cluster;
  std::string user;
  std::string namespace_name;
};

struct Kubeconfig {
  std::string current_context;
  std::map<std::string, KubeCluster> clusters;
  std::map<std::string, KubeUser> users;
  std::map<std::string, KubeContext> contexts;
};

// Parses one file. Relative paths in it are relative to `directory`, the file's own. An empty text
// is an empty kubeconfig. kInvalidArgument names the field: `users[2].user.exec.command: ...`.
base::Result<Kubeconfig> ParseKubeconfig(std::string_view text, std::string_view directory);

// Adds what `merged` lacks from `next`: the first file that sets a value wins.
void MergeKubeconfig(Kubeconfig& merged, Kubeconfig next);

// One context with its cluster and user.
struct KubeSelection {
  std::string context_name;
  std::string cluster_name;
  std::string user_name;  // of the entry; "": none
  std::string namespace_name;
  KubeCluster cluster;
  KubeUser user;
};

// The context called `context`, or the current one. kNotFound names the existing contexts;
// kInvalidArgument when it is incomplete or contradictory.
base::Result<KubeSelection> SelectContext(const Kubeconfig& config, const std::string& context);

}  // namespace cluster
