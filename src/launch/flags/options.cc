#include "launch/flags/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/strings.h"
#include "base/uid.h"
#include "launch/flags/rendezvous_settings.h"
#include "launch/machine/machine.h"
#include "launch/machine/signal_names.h"
#include "launch/python/numbers.h"

namespace launch {
namespace {

constexpr int kMeetingPort = 29400;
constexpr int kMasterPort = 29500;
constexpr int kNoPort = -1;
constexpr int64_t kLongestIdle = int64_t{7} * 24 * 3600;
constexpr int64_t kMostKept = 1000;

tl::unexpected<base::Error> Invalid(std::string message) {
  return base::Fail(base::Code::kInvalidArgument, std::move(message));
}

// Module names here are ASCII, and as Python writes them.
bool IsInModuleName(char c) {
  return base::IsDigit(c) || c == '.' || c == '_' || (c >= 'a' && c <= 'z') ||
         (c >= 'A' && c <= 'Z');
}

int64_t IntegerOf(const CommandLine& line, std::string_view name) {
  return ParsePythonInt(line.Text(name)).value_or(0);
}

base::Status ReadNodes(const CommandLine& line, Options& options) {
  const std::string& text = line.Text("nnodes");
  const auto parts = base::Split(text, ':');
  const auto first = ParsePythonInt(parts[0]);
  const auto last = ParsePythonInt(parts.back());
  if (parts.size() > 2 || !first || !last) {
    return Invalid(
        fmt::format("--nnodes '{}': nnodes={} is not in \"MIN:MAX\" format", text, text));
  }
  if (*first < 1 || *last < *first || *last > INT32_MAX) {
    return Invalid(fmt::format("--nnodes '{}': needs 0 < MIN <= MAX", text));
  }
  options.min_nodes = static_cast<int>(*first);
  options.max_nodes = static_cast<int>(*last);
  return {};
}

// An IPv6 address may have brackets, as torchrun's help asks for.
base::Result<std::string> MasterAddress(std::string text) {
  const std::string asked = text;
  if (text.size() > 1 && text.front() == '[' && text.back() == ']') {
    text = text.substr(1, text.size() - 2);
  }
  if (ParseHostPort("[" + text + "]", kMasterPort)) return text;
  return Invalid(fmt::format("--master-addr '{}': must be a host name or an address", asked));
}

base::Status ReadStatic(const CommandLine& line, Options& options) {
  options.is_static = true;
  options.is_single_node = options.max_nodes == 1;
  if (options.min_nodes != options.max_nodes) {
    options.warnings.push_back(
        fmt::format("--rdzv-backend static knows no range of nodes: --nnodes is taken as {}",
                    options.max_nodes));
    options.min_nodes = options.max_nodes;
  }
  if (options.node_rank < 0 || options.node_rank >= options.max_nodes) {
    return Invalid(fmt::format("--node-rank {}: must be from 0 to {} with --nnodes {}",
                               options.node_rank, options.max_nodes - 1, options.max_nodes));
  }
  HostPort master{"", kMasterPort};
  const int64_t port = line.IsGiven("master-port") ? IntegerOf(line, "master-port") : kMasterPort;
  if (port < 0 || port > 65535) {
    return Invalid(fmt::format("--master-port {}: must be from 0 to 65535", port));
  }
  master.port = static_cast<int>(port);
  if (line.IsGiven("rdzv-endpoint") && !base::Trim(line.Text("rdzv-endpoint")).empty()) {
    TRY_ASSIGN(master, ParseHostPort(line.Text("rdzv-endpoint"), kNoPort));
    if (master.port == kNoPort) {
      return Invalid(
          fmt::format("--rdzv-endpoint '{}': its port is missing, and --rdzv-backend static has no "
                      "usual one: write HOST:PORT",
                      line.Text("rdzv-endpoint")));
    }
  } else {
    options.endpoint_flag = "--master-addr";
    TRY_ASSIGN(master.host, MasterAddress(line.Text("master-addr")));
  }
  if (master.port == 0 && !options.is_single_node) {
    return Invalid("--master-port 0: the nodes could not find each other; name a port");
  }
  options.endpoint_host = master.host;
  options.endpoint_port = master.port;
  return {};
}

// --rdzv-conf in quotes that no shell removed, as torch's own tests pass it.
std::string_view Unquoted(std::string_view text) {
  const bool is_quoted = text.size() > 1 && text.front() == text.back() &&
                         (text.front() == '\'' || text.front() == '"');
  return is_quoted ? text.substr(1, text.size() - 2) : text;
}

base::Status ReadMeeting(const CommandLine& line, Options& options) {
  std::string backend = base::ToLower(base::Trim(line.Text("rdzv-backend")));
  std::string endpoint = line.Text("rdzv-endpoint");
  options.run_id = line.Text("rdzv-id");
  auto conf = ParseRendezvousConf(Unquoted(line.Text("rdzv-conf")));
  if (!conf) return base::Fail(conf.error().Wrap("--rdzv-conf"));
  auto settings = ReadRendezvousConf(*conf);
  if (!settings) return base::Fail(settings.error().Wrap("--rdzv-conf"));
  options.conf = std::move(*settings);
  // A single node without settings must not collide with its neighbour (2.1, single-node default).
  const bool is_plain_single = backend == "static" && options.max_nodes == 1 &&
                               base::Trim(endpoint).empty() && !line.IsGiven("master-port");
  if (line.IsOn("standalone") || is_plain_single) {
    if (line.IsOn("standalone") && options.min_nodes > 1) {
      return Invalid(fmt::format("--standalone is for one node, and --nnodes asks for {}",
                                 line.Text("nnodes")));
    }
    options.max_nodes = 1;  // no other node can find it
    backend = "c10d";
    endpoint = "localhost:0";
    options.run_id = base::NewUid();
  }
  if (backend == "static") return ReadStatic(line, options);
  if (backend != "c10d") {
    return Invalid(fmt::format("--rdzv-backend '{}' is not known here: static or c10d{}", backend,
                               backend.starts_with("etcd") ? " (c10d needs no other server)" : ""));
  }
  options.is_single_node = options.max_nodes == 1;
  if (options.run_id.empty() && !options.is_single_node) {
    return Invalid("--rdzv-id '': nodes that agree need a name for their job");
  }
  if (options.run_id.empty()) options.run_id = base::NewUid();
  auto place = ParseHostPort(endpoint, kMeetingPort);
  if (!place) return base::Fail(place.error().Wrap("--rdzv-endpoint"));
  options.endpoint_host = place->host;
  options.endpoint_port = place->port;
  return {};
}

base::Status ReadProgram(const CommandLine& line, Options& options) {
  options.program = line.script;
  options.args = line.script_args;
  options.role = line.Text("role");
  options.python = line.Text("python");
  if (line.IsOn("run-path")) {
    options.kind = ProgramKind::kRunPath;
  } else if (line.IsOn("no-python")) {
    if (line.IsOn("module")) return Invalid("Don't use both --no-python and --module: choose one");
    options.kind = ProgramKind::kProgram;
  } else if (line.IsOn("module")) {
    options.kind = ProgramKind::kModule;
  }
  options.is_warm = line.IsOn("warm");
  for (const std::string& part : base::Split(line.Text("preload"), ',')) {
    const std::string module(base::Trim(part));
    if (module.empty()) continue;
    if (!std::all_of(module.begin(), module.end(), IsInModuleName)) {
      return Invalid(fmt::format("--preload '{}': must be names of modules with commas", module));
    }
    options.preload += (options.preload.empty() ? "" : ",") + module;
  }
  const int64_t idle = IntegerOf(line, "warm-idle");
  if (idle < 1 || idle > kLongestIdle) {
    return Invalid(fmt::format("--warm-idle {}: must be from 1 to {} seconds", idle, kLongestIdle));
  }
  options.warm_idle = std::chrono::seconds(idle);
  options.warm_kept = IntegerOf(line, "warm-kept");
  if (options.warm_kept < 1 || options.warm_kept > kMostKept) {
    return Invalid(
        fmt::format("--warm-kept {}: must be from 1 to {}", options.warm_kept, kMostKept));
  }
  options.passes_local_rank = line.IsOn("torch-distributed-launch") && !line.IsOn("use-env");
  if (options.passes_local_rank && options.kind == ProgramKind::kProgram) {
    return Invalid("--no-python needs --use-env: a program gets no --local-rank argument");
  }
  return {};
}

// Returns the grace period of the ranks in a pod with this grace period.
std::chrono::milliseconds GraceOfRanks(int64_t pods_seconds) {
  const std::chrono::milliseconds all =
      std::chrono::seconds(std::clamp<int64_t>(pods_seconds, 0, INT32_MAX));
  return all - std::min<std::chrono::milliseconds>(all / 10, std::chrono::seconds(5));
}

base::Status ReadEnd(const CommandLine& line, const base::Environment& environment,
                     Options& options) {
  const int64_t restarts = IntegerOf(line, "max-restarts");
  if (restarts < 0) {
    return Invalid(fmt::format("--max-restarts {}: must be 0 or more", restarts));
  }
  options.max_restarts = static_cast<int>(std::min<int64_t>(restarts, INT32_MAX));
  if (ParsePythonFloat(line.Text("monitor-interval")).value_or(0) <= 0) {
    return Invalid(
        fmt::format("--monitor-interval {}: must be more than 0", line.Text("monitor-interval")));
  }
  if (!line.Text("shutdown-timeout").empty()) {
    const int64_t seconds = IntegerOf(line, "shutdown-timeout");
    if (seconds < 0) {
      return Invalid(fmt::format("--shutdown-timeout {}: must be 0 or more seconds", seconds));
    }
    options.shutdown_timeout = std::chrono::seconds(std::min<int64_t>(seconds, INT32_MAX));
  }
  if (const auto pods = base::ParseInt(environment.GetOr("MUSTER_GRACE", ""))) {
    options.grace_after_signal = GraceOfRanks(*pods);
  }
  static const std::map<std::string, OnStall> kOnStall = {{"off", OnStall::kOff},
                                                          {"report", OnStall::kReport},
                                                          {"stacks", OnStall::kStacks},
                                                          {"restart", OnStall::kRestart},
                                                          {"stop", OnStall::kStop}};
  options.on_stall = kOnStall.at(line.Text("on-stall"));
  const int64_t stall = IntegerOf(line, "stall-after");
  if (stall < 1 || stall > kLongestIdle) {
    return Invalid(
        fmt::format("--stall-after {}: must be from 1 to {} seconds", stall, kLongestIdle));
  }
  options.stall_after = std::chrono::seconds(stall);
  options.signals_to_handle = line.Text("signals-to-handle");
  for (const std::string& part : base::Split(options.signals_to_handle, ',')) {
    const std::string name(base::Trim(part));
    if (name.empty()) continue;
    if (const auto signal = SignalNumber(name)) {
      options.handled_signals.push_back(*signal);
    } else {
      options.warnings.push_back(fmt::format(
          "--signals-to-handle: '{}' is not a signal that can be caught; left out", name));
    }
  }
  const std::string& events = line.Text("event-log-handler");
  if (events != "null" && events != "console" && events != "dynamic_rendezvous") {
    return Invalid(fmt::format("--event-log-handler '{}' is not known: null or console", events));
  }
  options.prints_events = events == "console";
  return {};
}

base::Result<std::set<int>> ParseRanks(const std::string& text) {
  std::set<int> ranks;
  for (const std::string& part : base::Split(text, ',')) {
    if (base::Trim(part).empty()) continue;
    // -1 alone means no rank, as in the original.
    const auto rank = ParsePythonInt(part);
    if (!rank || *rank < -1 || *rank > INT32_MAX) {
      return Invalid(
          fmt::format("--local-ranks-filter '{}': must be local ranks such as 0,2", text));
    }
    ranks.insert(static_cast<int>(*rank));
  }
  return ranks;
}

// An empty one counts as absent, wherever it is set.
std::string PrefixTemplate(const CommandLine& line, const base::Environment& environment) {
  const std::string& asked = line.Text("log-line-prefix-template");
  if (!asked.empty()) return asked;
  return environment.GetOr("TORCHELASTIC_LOG_LINE_PREFIX_TEMPLATE", "[${role_name}${local_rank}]:");
}

base::Status ReadLogs(const CommandLine& line, const base::Environment& environment,
                      Options& options) {
  options.log_dir = line.Text("log-dir");
  options.has_logs = options.log_dir != "/dev/null";
  if (!options.has_logs) options.log_dir.clear();
  for (const auto& [name, choice] :
       {std::pair("redirects", &options.redirects), std::pair("tee", &options.tee)}) {
    auto parsed = StreamChoice::Parse(line.Text(name));
    if (!parsed) return base::Fail(parsed.error().Wrap(fmt::format("--{}", name)));
    if (options.has_logs) *choice = std::move(*parsed);
  }
  options.prefix_template = PrefixTemplate(line, environment);
  TRY_ASSIGN(options.shown_ranks, ParseRanks(line.Text("local-ranks-filter")));
  options.stdout_filters = line.lists.find("duplicate-stdout-filters")->second;
  options.stderr_filters = line.lists.find("duplicate-stderr-filters")->second;
  if (!line.Text("logs-specs").empty() && line.Text("logs-specs") != "default") {
    return Invalid(
        fmt::format("--logs-specs '{}': Could not find it; plug-ins are Python, and "
                    "only default is built in",
                    line.Text("logs-specs")));
  }
  options.explains = line.Text("explain") == "on";
  options.stop_on_nan = line.IsOn("stop-on-nan");
  options.shows_status = !line.IsOn("no-status");
  options.takes_posts = line.Text("progress") == "on";
  options.failure_file = line.Text("failure-file");
  return {};
}

base::Status CheckVirtualDevices(const Options& options, const base::Environment& environment) {
  const VisibleDevices visible = VisibleDevicesOf(environment);
  if (!visible.are_named || static_cast<size_t>(options.nproc_per_node) <= visible.devices.size()) {
    return {};
  }
  return Invalid(fmt::format("--virtual-local-rank: local_rank {} exceeds available GPUs in {}={}",
                             visible.devices.size(), visible.variable,
                             environment.values().at(visible.variable)));
}

}  // namespace

base::Result<Options> MakeOptions(const CommandLine& line, const base::Environment& environment) {
  Options options;
  TRY(ReadNodes(line, options));
  TRY_ASSIGN(options.nproc_per_node, CountProcesses(line.Text("nproc-per-node"), environment));
  const int64_t node_rank = IntegerOf(line, "node-rank");
  if (node_rank < INT32_MIN || node_rank > INT32_MAX) {
    return Invalid(fmt::format("--node-rank {}: no such node", node_rank));
  }
  options.node_rank = static_cast<int>(node_rank);
  options.has_node_rank = line.IsGiven("node-rank");
  options.local_addr = line.Text("local-addr");
  options.numa_binding = line.Text("numa-binding");
  options.has_virtual_local_rank = line.IsOn("virtual-local-rank");
  if (options.has_virtual_local_rank) TRY(CheckVirtualDevices(options, environment));
  TRY(ReadMeeting(line, options));
  if (options.conf.token.empty()) options.conf.token = environment.GetOr(kTokenVariable, "");
  TRY(ReadProgram(line, options));
  TRY(ReadEnd(line, environment, options));
  TRY(ReadLogs(line, environment, options));
  return options;
}

}  // namespace launch
