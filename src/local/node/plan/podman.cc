#include "local/node/plan/podman.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "local/node/plan/environment.h"
#include "local/node/plan/volumes.h"

namespace local::node {
namespace {

using text::GetString;

// Variables that podman reads itself; a container's variable of the same name must not affect it.
constexpr std::array<std::string_view, 8> kPodmansOwn = {
    "PATH",       "HOME",       "USER", "LOGNAME", "TMPDIR", "DBUS_SESSION_BUS_ADDRESS",
    "http_proxy", "https_proxy"};
constexpr std::array<std::string_view, 4> kPodmansPrefixes = {"XDG_", "CONTAINERS_", "LD_",
                                                              "REGISTRY_"};

bool IsPodmansOwn(std::string_view name) {
  return std::find(kPodmansOwn.begin(), kPodmansOwn.end(), name) != kPodmansOwn.end() ||
         std::any_of(kPodmansPrefixes.begin(), kPodmansPrefixes.end(),
                     [name](std::string_view prefix) { return name.starts_with(prefix); });
}

std::vector<std::string> Words(const text::Json& container, std::string_view field,
                               const std::map<std::string, std::string>& variables) {
  std::vector<std::string> words;
  for (const text::Json& word : text::Items(container, {field})) {
    if (word.is_string()) words.push_back(ExpandVariables(word.get_string(), variables));
  }
  return words;
}

std::string_view PullPolicy(const text::Json& container) {
  const std::string_view policy = GetString(container, {"imagePullPolicy"});
  return policy == "Always" ? "always" : policy == "Never" ? "never" : "missing";
}

void AddSecurity(const text::Json& container, const process::Rights& rights,
                 std::vector<std::string>& argv) {
  if (rights.user || rights.group) {
    std::string user = rights.user ? std::to_string(*rights.user) : "";
    if (rights.group) user += fmt::format(":{}", *rights.group);
    argv.push_back("--user=" + user);
  }
  for (const gid_t group : rights.groups) argv.push_back(fmt::format("--group-add={}", group));
  for (const auto& [list, flag] :
       {std::pair("drop", "--cap-drop="), std::pair("add", "--cap-add=")}) {
    for (const text::Json& name :
         text::Items(container, {"securityContext", "capabilities", list})) {
      if (name.is_string()) argv.push_back(flag + std::string(name.get_string()));
    }
  }
  if (rights.has_no_new_privileges) argv.emplace_back("--security-opt=no-new-privileges");
  if (text::GetBool(container, {"securityContext", "readOnlyRootFilesystem"}).value_or(false)) {
    argv.emplace_back("--read-only");
  }
}

void AddMount(const Mount& mount, std::vector<std::string>& argv) {
  if (mount.memory) {
    argv.push_back("--mount");
    argv.push_back(fmt::format(
        "type=tmpfs,destination={}{}", mount.target,
        *mount.memory > 0 ? fmt::format(",tmpfs-size={}", *mount.memory) : std::string()));
    return;
  }
  argv.push_back(
      fmt::format("--volume={}:{}{}", mount.source, mount.target, mount.read_only ? ":ro" : ""));
}

}  // namespace

std::string PodmanName(std::string_view pod_uid, std::string_view container) {
  return fmt::format("muster-{}-{}", pod_uid, container);
}

void RunByPodman(const text::Json& container, const PodSpec& pod, const EnvList& variables,
                 const CdiDevices& gpus, const base::Environment& daemon, ContainerSpec& spec) {
  std::map<std::string, std::string> known;
  for (const auto& [name, value] : variables) known[name] = value;
  std::vector<std::string> command = Words(container, "command", known);
  std::vector<std::string> args = Words(container, "args", known);

  spec.podman_name = PodmanName(pod.uid, spec.name);
  std::vector<std::string> argv = {"podman",
                                   "run",
                                   "--rm",
                                   "--replace",
                                   "--name=" + spec.podman_name,
                                   "--network=host",
                                   "--log-driver=none"};
  argv.push_back(fmt::format("--pull={}", PullPolicy(container)));
  if (!pod.hostname.empty()) argv.push_back("--hostname=" + pod.hostname);
  for (const auto& [name, address] : pod.hosts) {
    argv.push_back(fmt::format("--add-host={}:{}", name, address));
  }
  for (const Mount& mount : pod.mounts) AddMount(mount, argv);
  for (const std::string& name : gpus.names) {
    argv.push_back(fmt::format("--device={}={}", gpus.kind, name));
  }
  if (const auto cwd = CleanPath(GetString(container, {"workingDir"}));
      cwd && !GetString(container, {"workingDir"}).empty()) {
    argv.push_back("--workdir=" + *cwd);
    // Kubernetes creates a working directory that the image lacks. Here an anonymous volume does,
    // which starts with the image's contents and is deleted with the container.
    const bool is_mounted =
        std::any_of(pod.mounts.begin(), pod.mounts.end(), [&place = *cwd](const Mount& mount) {
          return place == mount.target || place.starts_with(mount.target + "/");
        });
    if (!is_mounted && *cwd != "/") argv.push_back("--volume=" + *cwd);
  }
  if (spec.tty) argv.emplace_back("--tty");
  AddSecurity(container, spec.rights, argv);
  spec.rights = {};  // podman itself has its user's rights

  std::map<std::string, std::string> own;  // the last one of a name counts
  for (const auto& [name, value] : spec.env) own[name] = value;
  EnvList env;
  for (const auto& [name, value] : daemon.values()) {
    if (IsPodmansOwn(name)) env.emplace_back(name, value);
  }
  for (const auto& [name, value] : own) {
    if (IsPodmansOwn(name)) {
      argv.push_back(fmt::format("--env={}={}", name, value));
    } else {
      argv.push_back("--env=" + name);
      env.emplace_back(name, value);
    }
  }
  if (!command.empty()) {
    argv.push_back("--entrypoint=" + command.front());
    args.insert(args.begin(), std::make_move_iterator(command.begin() + 1),
                std::make_move_iterator(command.end()));
  }
  argv.emplace_back(GetString(container, {"image"}));
  argv.insert(argv.end(), std::make_move_iterator(args.begin()),
              std::make_move_iterator(args.end()));
  spec.argv = std::move(argv);
  spec.env = std::move(env);
  spec.cwd = "/";
}

std::vector<std::string> PodmanExec(const std::string& podman_name, bool has_terminal,
                                    const std::vector<std::string>& argv) {
  std::vector<std::string> exec = {"podman", "exec", "--interactive"};
  if (has_terminal) exec.insert(exec.end(), {"--tty", "--env=TERM"});
  exec.push_back(podman_name);
  exec.insert(exec.end(), argv.begin(), argv.end());
  return exec;
}

}  // namespace local::node
