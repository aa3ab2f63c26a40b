#include "local/node/pod/pod_spec.h"

#include <fmt/format.h>

#include <array>

namespace local::node {
namespace {

using text::Array;
using text::Json;
using text::Object;

constexpr std::array<std::string_view, 3> kKinds = {"program", "git-sync", "rsync"};
constexpr std::array<std::string_view, 3> kPolicies = {"Always", "OnFailure", "Never"};
constexpr std::array<std::string_view, 3> kPhases = {"waiting", "running", "terminated"};

template <typename Enum>
base::Result<Enum> EnumFromJson(const Json& json, std::string_view key,
                                const std::array<std::string_view, 3>& names) {
  const std::string_view name = text::GetString(json, {key});
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i] == name) return static_cast<Enum>(i);
  }
  return base::Fail(base::Code::kInvalidArgument, fmt::format("bad {}: \"{}\"", key, name));
}

Array PairsToJson(const std::vector<std::pair<std::string, std::string>>& pairs) {
  Array array;
  for (const auto& [first, second] : pairs) array.push_back(Array{Json(first), Json(second)});
  return array;
}

base::Result<std::vector<std::pair<std::string, std::string>>> PairsFromJson(const Json& json,
                                                                             std::string_view key) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const Json& item : text::Items(json, {key})) {
    const Array* const pair = item.if_array();
    if (pair == nullptr || pair->size() != 2 || !(*pair)[0].is_string() ||
        !(*pair)[1].is_string()) {
      return base::Fail(base::Code::kInvalidArgument, fmt::format("bad pair in {}", key));
    }
    pairs.emplace_back((*pair)[0].get_string(), (*pair)[1].get_string());
  }
  return pairs;
}

template <typename T, typename Convert>
base::Result<std::vector<T>> ListFromJson(const Json& json, std::string_view key, Convert convert) {
  std::vector<T> list;
  for (const Json& item : text::Items(json, {key})) {
    TRY_ASSIGN(T value, convert(item));
    list.push_back(std::move(value));
  }
  return list;
}

template <typename T, typename Convert>
Array ListToJson(const std::vector<T>& list, Convert convert) {
  Array array;
  for (const T& item : list) array.push_back(convert(item));
  return array;
}

std::string StringAt(const Json& json, std::string_view key) {
  return std::string(text::GetString(json, {key}));
}

Json RightsToJson(const process::Rights& rights) {
  Object object;
  if (rights.user) object["user"] = int64_t{*rights.user};
  if (rights.group) object["group"] = int64_t{*rights.group};
  object["groups"] = ListToJson(rights.groups, [](gid_t group) { return Json(int64_t{group}); });
  object["droppedCapabilities"] = rights.dropped_capabilities;
  object["hasNoNewPrivileges"] = rights.has_no_new_privileges;
  return object;
}

base::Result<process::Rights> RightsFromJson(const Json& json) {
  process::Rights rights;
  if (const auto user = text::GetInt(json, {"user"})) rights.user = static_cast<uid_t>(*user);
  if (const auto group = text::GetInt(json, {"group"})) rights.group = static_cast<gid_t>(*group);
  TRY_ASSIGN(rights.groups,
             ListFromJson<gid_t>(json, "groups", [](const Json& group) -> base::Result<gid_t> {
               if (group.is_int64()) return static_cast<gid_t>(group.get_int64());
               return base::Fail(base::Code::kInvalidArgument, "bad group");
             }));
  if (const Json* const dropped = text::Find(json, {"droppedCapabilities"})) {
    boost::system::error_code failed;
    rights.dropped_capabilities = dropped->to_number<uint64_t>(failed);
  }
  rights.has_no_new_privileges = text::GetBool(json, {"hasNoNewPrivileges"}).value_or(false);
  return rights;
}

Json ContainerToJson(const ContainerSpec& spec) {
  Object object;
  object["name"] = spec.name;
  object["kind"] = kKinds[static_cast<size_t>(spec.kind)];
  object["argv"] = ListToJson(spec.argv, [](const std::string& word) { return Json(word); });
  object["cwd"] = spec.cwd;
  object["env"] = PairsToJson(spec.env);
  object["tty"] = spec.tty;
  if (!spec.image_hint.empty()) object["imageHint"] = spec.image_hint;
  if (!spec.warm_python.empty()) object["warmPython"] = spec.warm_python;
  if (!spec.podman_name.empty()) object["podmanName"] = spec.podman_name;
  if (spec.memory_limit) object["memoryLimit"] = *spec.memory_limit;
  if (spec.cpu_limit_milli) object["cpuLimitMilli"] = *spec.cpu_limit_milli;
  if (spec.rights.AreReduced()) object["rights"] = RightsToJson(spec.rights);
  return object;
}

base::Result<ContainerSpec> ContainerFromJson(const Json& json) {
  ContainerSpec spec;
  spec.name = StringAt(json, "name");
  if (spec.name.empty() || spec.name.find('/') != std::string::npos) {
    return base::Fail(base::Code::kInvalidArgument, "bad container name \"" + spec.name + "\"");
  }
  TRY_ASSIGN(spec.kind, EnumFromJson<ContainerSpec::Kind>(json, "kind", kKinds));
  TRY_ASSIGN(spec.argv, ListFromJson<std::string>(
                            json, "argv", [](const Json& word) -> base::Result<std::string> {
                              if (word.is_string()) return std::string(word.get_string());
                              return base::Fail(base::Code::kInvalidArgument, "bad argv");
                            }));
  spec.cwd = StringAt(json, "cwd");
  TRY_ASSIGN(spec.env, PairsFromJson(json, "env"));
  spec.tty = text::GetBool(json, {"tty"}).value_or(false);
  spec.image_hint = StringAt(json, "imageHint");
  spec.warm_python = StringAt(json, "warmPython");
  spec.podman_name = StringAt(json, "podmanName");
  spec.memory_limit = text::GetInt(json, {"memoryLimit"});
  spec.cpu_limit_milli = text::GetInt(json, {"cpuLimitMilli"});
  if (const Json* const rights = text::Find(json, {"rights"})) {
    TRY_ASSIGN(spec.rights, RightsFromJson(*rights));
  }
  return spec;
}

Json MountToJson(const Mount& mount) {
  Object object;
  object["source"] = mount.source;
  object["target"] = mount.target;
  object["readOnly"] = mount.read_only;
  if (mount.memory) object["memory"] = *mount.memory;
  return object;
}

base::Result<Mount> MountFromJson(const Json& json) {
  return Mount{StringAt(json, "source"), StringAt(json, "target"),
               text::GetBool(json, {"readOnly"}).value_or(false), text::GetInt(json, {"memory"})};
}

Json StateToJson(const ContainerState& state) {
  Object object;
  object["phase"] = kPhases[static_cast<size_t>(state.phase)];
  if (!state.reason.empty()) object["reason"] = state.reason;
  if (!state.message.empty()) object["message"] = state.message;
  if (state.phase == ContainerState::Phase::kTerminated) object["exitCode"] = state.exit_code;
  if (state.signal != 0) object["signal"] = state.signal;
  if (state.started_at) object["startedAt"] = base::FormatRfc3339Micro(*state.started_at);
  if (state.finished_at) object["finishedAt"] = base::FormatRfc3339Micro(*state.finished_at);
  return object;
}

base::Result<std::optional<base::Time>> TimeFromJson(const Json& json, std::string_view key) {
  const std::string_view value = text::GetString(json, {key});
  if (value.empty()) return std::optional<base::Time>();
  TRY_ASSIGN(const base::Time time, base::ParseRfc3339(value));
  return std::optional<base::Time>(time);
}

base::Result<ContainerState> StateFromJson(const Json& json) {
  ContainerState state;
  TRY_ASSIGN(state.phase, EnumFromJson<ContainerState::Phase>(json, "phase", kPhases));
  state.reason = StringAt(json, "reason");
  state.message = StringAt(json, "message");
  state.exit_code = static_cast<int>(text::GetInt(json, {"exitCode"}).value_or(0));
  state.signal = static_cast<int>(text::GetInt(json, {"signal"}).value_or(0));
  TRY_ASSIGN(state.started_at, TimeFromJson(json, "startedAt"));
  TRY_ASSIGN(state.finished_at, TimeFromJson(json, "finishedAt"));
  return state;
}

Json ContainerReportToJson(const ContainerReport& report) {
  Object object;
  object["name"] = report.name;
  object["restartCount"] = report.restart_count;
  if (report.session.id > 0) {
    object["session"] = int64_t{report.session.id};
    object["sessionStartTicks"] = report.session.start_ticks;
  }
  if (!report.log_loss.empty()) object["logLoss"] = report.log_loss;
  object["state"] = StateToJson(report.state);
  if (report.last_termination) object["lastTermination"] = StateToJson(*report.last_termination);
  return object;
}

base::Result<ContainerReport> ContainerReportFromJson(const Json& json) {
  ContainerReport report;
  report.name = StringAt(json, "name");
  report.restart_count = static_cast<int>(text::GetInt(json, {"restartCount"}).value_or(0));
  report.session.id = static_cast<pid_t>(text::GetInt(json, {"session"}).value_or(0));
  report.session.start_ticks =
      static_cast<uint64_t>(text::GetInt(json, {"sessionStartTicks"}).value_or(0));
  report.log_loss = StringAt(json, "logLoss");
  const Json* const state = text::Find(json, {"state"});
  if (state == nullptr) return base::Fail(base::Code::kInvalidArgument, "report has no state");
  TRY_ASSIGN(report.state, StateFromJson(*state));
  if (const Json* const last = text::Find(json, {"lastTermination"})) {
    TRY_ASSIGN(report.last_termination, StateFromJson(*last));
  }
  return report;
}

}  // namespace

Json ToJson(const PodSpec& spec) {
  Object object;
  object["uid"] = spec.uid;
  object["namespace"] = spec.namespace_name;
  object["name"] = spec.name;
  object["directory"] = spec.directory;
  object["hostname"] = spec.hostname;
  object["restartPolicy"] = kPolicies[static_cast<size_t>(spec.restart_policy)];
  object["umask"] = int64_t{spec.umask};
  object["initContainers"] = ListToJson(spec.init_containers, ContainerToJson);
  object["containers"] = ListToJson(spec.containers, ContainerToJson);
  object["mounts"] = ListToJson(spec.mounts, MountToJson);
  object["isRootReadOnly"] = spec.is_root_read_only;
  object["cgroupMount"] = spec.cgroup_mount;
  object["isInUserScope"] = spec.is_in_user_scope;
  object["hosts"] = PairsToJson(spec.hosts);
  object["terminationGraceSeconds"] = static_cast<int64_t>(spec.termination_grace.count());
  object["jobCodeDirectory"] = spec.job_code_directory;
  object["witnessRoot"] = spec.witness_root;
  object["logLimit"] = spec.log_limit;
  object["restartBackoffMillis"] = static_cast<int64_t>(spec.restart_backoff.count());
  return object;
}

base::Result<PodSpec> PodSpecFromJson(const Json& json) {
  PodSpec spec;
  spec.uid = StringAt(json, "uid");
  spec.namespace_name = StringAt(json, "namespace");
  spec.name = StringAt(json, "name");
  spec.directory = StringAt(json, "directory");
  if (!spec.directory.starts_with('/')) {
    return base::Fail(base::Code::kInvalidArgument, "pod directory is not absolute");
  }
  spec.hostname = StringAt(json, "hostname");
  TRY_ASSIGN(spec.restart_policy, EnumFromJson<PodRestartPolicy>(json, "restartPolicy", kPolicies));
  spec.umask = static_cast<mode_t>(text::GetInt(json, {"umask"}).value_or(kUsualUmask));
  TRY_ASSIGN(spec.init_containers,
             ListFromJson<ContainerSpec>(json, "initContainers", ContainerFromJson));
  TRY_ASSIGN(spec.containers, ListFromJson<ContainerSpec>(json, "containers", ContainerFromJson));
  TRY_ASSIGN(spec.mounts, ListFromJson<Mount>(json, "mounts", MountFromJson));
  spec.cgroup_mount = StringAt(json, "cgroupMount");
  spec.is_in_user_scope = text::GetBool(json, {"isInUserScope"}).value_or(false);
  spec.is_root_read_only = text::GetBool(json, {"isRootReadOnly"}).value_or(false);
  TRY_ASSIGN(spec.hosts, PairsFromJson(json, "hosts"));
  spec.termination_grace =
      std::chrono::seconds(text::GetInt(json, {"terminationGraceSeconds"}).value_or(30));
  spec.job_code_directory = StringAt(json, "jobCodeDirectory");
  spec.witness_root = StringAt(json, "witnessRoot");
  spec.log_limit = static_cast<uint64_t>(text::GetInt(json, {"logLimit"}).value_or(0));
  spec.restart_backoff =
      std::chrono::milliseconds(text::GetInt(json, {"restartBackoffMillis"}).value_or(10'000));
  return spec;
}

Json ToJson(const PodReport& report) {
  Object object;
  object["uid"] = report.uid;
  object["initContainers"] = ListToJson(report.init_containers, ContainerReportToJson);
  object["containers"] = ListToJson(report.containers, ContainerReportToJson);
  object["isFinished"] = report.is_finished;
  object["hasSucceeded"] = report.has_succeeded;
  object["reason"] = report.reason;
  object["message"] = report.message;
  return object;
}

base::Result<PodReport> PodReportFromJson(const Json& json) {
  PodReport report;
  report.uid = StringAt(json, "uid");
  TRY_ASSIGN(report.init_containers,
             ListFromJson<ContainerReport>(json, "initContainers", ContainerReportFromJson));
  TRY_ASSIGN(report.containers,
             ListFromJson<ContainerReport>(json, "containers", ContainerReportFromJson));
  report.is_finished = text::GetBool(json, {"isFinished"}).value_or(false);
  report.has_succeeded = text::GetBool(json, {"hasSucceeded"}).value_or(false);
  report.reason = StringAt(json, "reason");
  report.message = StringAt(json, "message");
  return report;
}

}  // namespace local::node
