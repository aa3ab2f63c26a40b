#include "reconcile/pod/init_container.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "api/names.h"
#include "api/pod.h"
#include "base/strings.h"
#include "reconcile/pod/pod_template.h"
#include "reconcile/restart.h"
#include "text/yaml.h"

namespace reconcile {
namespace {

// For a pod that is not restarted although its policy is OnFailure: tries for as long as restarts
// would.
constexpr int kTriesOfADay = 24 * 60 * 60 / 2;

Options WithTries(const api::PyTorchJob& job, Options options) {
  const api::ReplicaSpec& workers = *job.Worker();
  const bool waits_on = workers.Policy() == api::RestartPolicy::kOnFailure && HasNoRestarts(job);
  if (waits_on) options.init_container_max_tries = kTriesOfADay;
  return options;
}

std::optional<text::Array> Parse(std::string_view yaml) {
  auto parsed = text::ParseYaml(yaml);
  if (!parsed || !parsed->is_array() || parsed->get_array().empty()) return std::nullopt;
  const bool are_containers = std::all_of(
      parsed->get_array().begin(), parsed->get_array().end(), [](const text::Json& container) {
        return container.is_object() && !text::GetString(container, {"name"}).empty();
      });
  if (!are_containers) return std::nullopt;
  return std::move(parsed->get_array());
}

// Of the actions of Go's templates those that print a value: `{{.Name}}`, `{{ .Name }}`, and `{{-`
// and `-}}`, which also take the white space beside them.
std::string Print(std::string_view yaml, std::string_view name, std::string_view value) {
  std::string out;
  while (true) {
    const size_t begin = yaml.find("{{");
    const size_t end = yaml.find("}}", begin);
    if (begin == std::string_view::npos || end == std::string_view::npos) break;
    std::string_view action = yaml.substr(begin + 2, end - begin - 2);
    const bool takes_before = action.starts_with("- ");
    const bool takes_after = action.ends_with(" -");
    if (takes_before) action.remove_prefix(1);
    if (takes_after) action.remove_suffix(1);
    action = base::Trim(action);
    const bool is_meant = action.starts_with('.') && action.substr(1) == name;
    out += yaml.substr(0, begin);
    if (is_meant) {
      if (takes_before) out.erase(out.find_last_not_of(" \t\r\n") + 1);
      out += value;
    } else {
      out += yaml.substr(begin, end + 2 - begin);
    }
    yaml.remove_prefix(end + 2);
    if (is_meant && takes_after) {
      yaml.remove_prefix(std::min(yaml.find_first_not_of(" \t\r\n"), yaml.size()));
    }
  }
  return out.append(yaml);
}

std::optional<text::Array> FromTemplate(const Options& options, std::string_view master) {
  if (options.init_container_template.empty()) return std::nullopt;
  std::string yaml = Print(options.init_container_template, "MasterAddr", master);
  yaml = Print(yaml, "InitContainerImage", options.init_container_image);
  yaml = Print(yaml, "MaxTries", fmt::to_string(options.init_container_max_tries));
  return Parse(yaml);
}

// What Kubernetes' "restricted" profile asks of a container, and the job's user: a job that may not
// run as root does not run as root here either, and images without another user still start.
text::Object LeastPrivileges(const api::PyTorchJob& job) {
  text::Object context{{"allowPrivilegeEscalation", false},
                       {"capabilities", text::Object{{"drop", text::Array{"ALL"}}}},
                       {"seccompProfile", text::Object{{"type", "RuntimeDefault"}}}};
  const text::Json* const main = api::MainContainer(job.Worker()->template_json);
  if (main == nullptr) return context;
  for (const std::string_view field : {"runAsNonRoot", "runAsUser", "runAsGroup"}) {
    if (const text::Json* const value = text::Find(*main, {"securityContext", field})) {
      context[field] = *value;
    }
  }
  return context;
}

text::Array BuiltIn(const api::PyTorchJob& job, const Options& options, std::string_view master) {
  text::Object container;
  container["name"] = api::kInitContainerName;
  container["image"] = options.init_container_image;
  container["imagePullPolicy"] = "IfNotPresent";
  container["resources"] =
      text::Object{{"limits", text::Object{{"cpu", "100m"}, {"memory", "20Mi"}}},
                   {"requests", text::Object{{"cpu", "50m"}, {"memory", "10Mi"}}}};
  container["command"] = text::Array{
      "sh", "-c",
      // A small image has one of the two; the operator's own image has getent.
      fmt::format("err=1;for i in $(seq {0}); do if nslookup {1} 2>/dev/null || getent hosts {1}; "
                  "then err=0 && break; fi;echo waiting for master; sleep 2; done; exit $err",
                  options.init_container_max_tries, master)};
  container["securityContext"] = LeastPrivileges(job);
  text::Array containers;
  containers.emplace_back(std::move(container));
  return containers;
}

// Training images have Python; other images have another way to probe a port.
constexpr std::string_view kPortScript =
    "h=$0; p=$1; i=0; while [ $i -lt $2 ]; do "
    "if command -v python3 >/dev/null; then python3 -c "
    "'import socket, sys; socket.create_connection((sys.argv[1], int(sys.argv[2])), 3).close()' "
    "$h $p 2>/dev/null && exit 0; "
    "elif command -v nc >/dev/null; then nc -z -w 3 $h $p && exit 0; "
    "elif command -v bash >/dev/null; then "
    "bash -c 'exec 3<>/dev/tcp/$0/$1' $h $p 2>/dev/null && exit 0; "
    "else echo 'no python3, nc or bash to try the port with'; exit 1; fi; "
    "echo waiting for $h:$p; i=$((i+1)); sleep 2; done; exit 1";

text::Array ForPort(const api::PyTorchJob& job, const Options& options, std::string_view master,
                    std::optional<int> master_port) {
  text::Array containers = BuiltIn(job, options, master);
  text::Object& container = containers.front().get_object();
  if (const text::Json* const main = api::MainContainer(job.Worker()->template_json)) {
    container["image"] = text::GetString(*main, {"image"});
    const std::string_view pull = text::GetString(*main, {"imagePullPolicy"});
    if (!pull.empty()) container["imagePullPolicy"] = pull;
  }
  // Starting Python needs more than a DNS query does.
  container["resources"] =
      text::Object{{"limits", text::Object{{"cpu", "500m"}, {"memory", "128Mi"}}},
                   {"requests", text::Object{{"cpu", "50m"}, {"memory", "32Mi"}}}};
  container["command"] =
      text::Array{"sh",
                  "-c",
                  kPortScript,
                  master,
                  fmt::to_string(JobPort(job.Master()->template_json, master_port)),
                  fmt::to_string(options.init_container_max_tries)};
  return containers;
}

}  // namespace

InitStep InitStepOf(const api::PyTorchJob& job, const Options& options) {
  std::string_view word = options.init_step;
  const auto said = job.annotations.find(std::string(api::kInitStepAnnotation));
  if (said != job.annotations.end() &&
      (said->second == "dns" || said->second == "port" || said->second == "none")) {
    word = said->second;
  }
  if (!options.init_container || word == "none") return InitStep::kNone;
  return word == "port" ? InitStep::kPort : InitStep::kDns;
}

text::Array InitContainers(const api::PyTorchJob& job, std::string_view type, const Options& chosen,
                           std::optional<int> master_port) {
  if (type != api::kWorker || job.Master() == nullptr) return {};
  const InitStep step = InitStepOf(job, chosen);
  if (step == InitStep::kNone) return {};
  const Options options = WithTries(job, chosen);
  const std::string master = api::ReplicaName(job.name, api::kMaster, 0);
  if (step == InitStep::kPort) return ForPort(job, options, master, master_port);
  if (auto containers = FromTemplate(options, master)) return *std::move(containers);
  return BuiltIn(job, options, master);
}

bool IsInitContainerTemplate(std::string_view yaml) {
  Options options;
  options.init_container_template = yaml;
  return FromTemplate(options, "master").has_value();
}

}  // namespace reconcile
