// Exec credential plugins (client.authentication.k8s.io v1 and v1beta1): their input, their output,
// and running them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/environment.h"
#include "base/result.h"
#include "cluster/kubeconfig/kubeconfig.h"

namespace cluster {

struct ExecCredential {
  std::string token;
  std::string cert_pem, key_pem;
  std::optional<base::Time> expires;  // nullopt: valid until it is refused
};

// kUnauthenticated: the error of a plugin or its output.
base::Error PluginRefusal(std::string message);

// The value of KUBERNETES_EXEC_INFO. Pure. `ca_pem` is the contents of the cluster's authority
// file.
std::string ExecInfo(const ExecPlugin& plugin, const KubeCluster& cluster, std::string_view ca_pem,
                     bool is_interactive);

// Parses a plugin's output. Pure. kUnauthenticated says what is wrong with it.
base::Result<ExecCredential> ParseExecCredential(std::string_view text,
                                                 std::string_view api_version);

// Runs the plugin and returns its standard output; its standard error goes to the user. Blocks: for
// as long as a login may take if the user is asked, otherwise at most a minute. kUnauthenticated
// with the installHint when there is no such program, or with its exit code.
base::Result<std::string> RunExecPlugin(const ExecPlugin& plugin, const std::string& exec_info,
                                        bool is_interactive, const base::Environment& environment);

// Whether the plugin gets this process's standard input. kUnauthenticated when it requires a
// terminal and there is none.
base::Result<bool> IsPluginInteractive(const ExecPlugin& plugin, bool has_terminal);

}  // namespace cluster
