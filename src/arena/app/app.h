// Arena's verbs on the command tree, and what they share.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/environment.h"
#include "base/result.h"
#include "cli/command.h"
#include "cluster/client.h"

namespace arena {

// As typed; "" where a flag was not given.
struct GlobalFlags {
  std::string log_level;
  std::string config;  // Arena's name for the kubeconfig path
  std::string kubeconfig;
  std::string context;
  std::string namespace_name;
  std::string arena_namespace;
  bool local = false;  // the embedded cluster, whatever the environment says
  bool ignored = false;

  // --kubeconfig, else --config.
  const std::string& KubeconfigPath() const { return kubeconfig.empty() ? config : kubeconfig; }
};

// The state of one run of the program. Lives as long as the command tree; one thread.
struct Context {
  base::Environment environment;
  base::Clock& clock;
  std::string program = "muster";  // the name it was called under; messages repeat it
  GlobalFlags flags;

  // Finds and reaches the cluster; called at most once, by the verb, after its own checks. The
  // client is owned by whoever set this and outlives the run. It also fills in the four below.
  std::function<base::Result<cluster::Client*>(Context&)> connect;
  bool cluster_is_this_machine = false;  // the embedded cluster: a job needs no image
  std::string cluster_namespace;         // of the kubeconfig's context; "" if it names none
  std::string cluster_server = {};       // its URL; "" for the embedded cluster, or if unknown
  // Asks the cluster. If it is empty or returns "", the local user's name is used.
  std::function<base::Result<std::string>()> find_user_name;

  // Why no TensorBoard can run beside a job on the embedded cluster, and what to do; "" when one
  // can. May start the user's Python. Unset for other clusters.
  std::function<std::string()> missing_tensorboard = {};

  // Only determines which cluster it would be: fills in the four above as far as they are known
  // without a request. May be unset.
  std::function<base::Status(Context&)> choose = {};

  // Blocks for that long between retries after a broken connection.
  std::function<void(base::Duration)> pause;

  // --namespace, else `namespace` of Arena's configuration file, else the context's, else default.
  // Final after connect.
  std::string Namespace() const;
  // The user as whom jobs are submitted; may ask the cluster.
  base::Result<std::string> UserName() const;
};

// From here on only errors are logged, unless --loglevel debug was given: Arena's Java SDK reads
// stdout and stderr as one stream of JSON.
void KeepOutputPure(const Context& context);

// Declares the global flags on `root` and adds every verb. `root` and `context` outlive the tree.
void AddVerbs(cli::Command& root, Context& context);

// $ARENA_CONFIG, else ~/.arena/config: `key=value` lines, # comments; empty when there is no file.
std::map<std::string, std::string> ReadArenaConfig(const base::Environment& environment);
std::map<std::string, std::string> ParseArenaConfig(std::string_view text);

}  // namespace arena
