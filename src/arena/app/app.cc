#include "arena/app/app.h"

#include <fmt/format.h>
#include <unistd.h>

#include "arena/app/complete_names.h"
#include "arena/verbs.h"
#include "base/file.h"
#include "base/log.h"
#include "base/machine/user_name.h"
#include "base/strings.h"

namespace arena {
namespace {

constexpr size_t kMaxConfigBytes = 1 << 20;

void AddGlobalFlags(cli::Command& root, Context& context) {
  GlobalFlags& flags = context.flags;
  cli::FlagSet& set = root.persistent_flags();
  set.String(&flags.log_level, "loglevel", "info", "how much to say: debug, info, warn or error")
      .Choices({"debug", "info", "warn", "error"});
  set.String(&flags.config, "config", "", "kubeconfig file, the same as --kubeconfig");
  set.String(&flags.kubeconfig, "kubeconfig", "", "kubeconfig file of the cluster to use");
  set.String(&flags.context, "context", "", "context of the kubeconfig");
  set.String(&flags.namespace_name, "namespace", "", "namespace to work in")
      .Short('n')
      .Complete([&context](std::string_view) { return CompleteNamespaceNames(context); });
  set.String(&flags.arena_namespace, "arena-namespace", "arena-system",
             "namespace of Arena's own configuration");
  set.Bool(&flags.local, "local", false, "use the embedded cluster of this machine");
  // Arena's switches for its internals: accepted, without effect here.
  for (const char* name : {"helm-binary", "pprof", "trace"}) {
    set.Bool(&flags.ignored, name, false, "accepted for compatibility").Hidden();
  }
}

// Names that users of other programs type.
constexpr std::pair<std::string_view, std::string_view> kSynonyms[] = {
    {"kill", "stop"},       {"cancel", "stop"},    {"abort", "stop"},     {"pause", "suspend"},
    {"scancel", "stop"},    {"terminate", "stop"}, {"rm", "delete"},      {"remove", "delete"},
    {"del", "delete"},      {"start", "run"},      {"srun", "run"},       {"sbatch", "submit"},
    {"create", "submit"},   {"queue", "list"},     {"squeue", "list"},    {"jobs", "list"},
    {"info", "show"},       {"inspect", "show"},   {"sacct", "history"},  {"tail", "logs -f"},
    {"follow", "logs -f"},  {"ssh", "attach"},     {"restart", "rerun"},  {"retry", "rerun"},
    {"clean", "prune"},     {"cleanup", "prune"},  {"gc", "prune"},       {"check", "doctor"},
    {"torchrun", "launch"}, {"secrets", "secret"}, {"config", "cluster"}, {"nodes", "top node"},
    {"gpus", "top node"},   {"download", "cp"},    {"gpu", "top node"},   {"node", "top node"},
    {"upload", "data"},     {"tui", "watch"},      {"ui", "dash"},        {"web", "dash"},
    {"open", "dash"},       {"dashboard", "dash"}, {"view", "show"},      {"cat", "logs"},
    {"new", "run"},         {"init", "run"},       {"qsub", "submit"},    {"qstat", "list"},
    {"qdel", "stop"},       {"sinfo", "top node"}, {"login", "cluster"},  {"wait", "logs -f"}};

void AddTop(cli::Command& root, Context& context) {
  cli::Command& top = root.Add("top", "Show the GPUs of nodes and jobs");
  AddTopNode(top, context);
  AddTopJob(top, context);
}

struct Verb {
  std::string_view name;
  void (*add)(cli::Command& root, Context& context);
  std::vector<std::string> aliases;  // not under the name `arena`
};

}  // namespace

std::map<std::string, std::string> ParseArenaConfig(std::string_view text) {
  std::map<std::string, std::string> values;
  for (const std::string& raw : base::Split(text, '\n')) {
    const std::string_view line = base::Trim(raw);
    const size_t equals = line.find('=');
    if (line.empty() || line[0] == '#' || equals == std::string_view::npos) continue;
    values[std::string(base::Trim(line.substr(0, equals)))] = base::Trim(line.substr(equals + 1));
  }
  return values;
}

std::map<std::string, std::string> ReadArenaConfig(const base::Environment& environment) {
  std::vector<std::string> candidates;
  if (auto named = environment.Get("ARENA_CONFIG")) candidates.push_back(*named);
  candidates.push_back(environment.Home() + "/.arena/config");
  for (const std::string& path : candidates) {
    if (auto text = base::ReadFile(path, kMaxConfigBytes)) return ParseArenaConfig(*text);
  }
  return {};
}

std::string Context::Namespace() const {
  if (!flags.namespace_name.empty()) return flags.namespace_name;
  const auto config = ReadArenaConfig(environment);
  if (auto it = config.find("namespace"); it != config.end() && !it->second.empty()) {
    return it->second;
  }
  return cluster_namespace.empty() ? "default" : cluster_namespace;
}

base::Result<std::string> Context::UserName() const {
  if (find_user_name) {
    TRY_ASSIGN(std::string name, find_user_name());
    if (!name.empty()) return name;
  }
  for (const char* name : {"LOGNAME", "USER"}) {
    if (auto value = environment.Get(name)) return *value;
  }
  // Services and containers often have neither.
  return base::UserName(::getuid()).value_or(fmt::format("uid-{}", ::getuid()));
}

void KeepOutputPure(const Context& context) {
  if (context.flags.log_level != "debug") base::SetLogLevel(base::LogLevel::kError);
}

void AddVerbs(cli::Command& root, Context& context) {
  AddGlobalFlags(root, context);
  root.Before([&context](cli::Invocation& call) -> base::Status {
    const auto level = base::ParseLogLevel(context.flags.log_level);
    if (!level) {
      // compat/arena.md 1.2, and 1.3.7 for delete.
      const bool is_bare = context.program != "arena" || call.command.name() == "delete";
      return base::Fail(is_bare ? level.error()
                                : level.error().Wrap("failed to create arena client"));
    }
    base::SetLogLevel(*level);
    return {};
  });
  const bool is_arena = context.program == "arena";
  const auto add = [&](const Verb& verb) {
    root.AddLater(verb.name, [verb, is_arena, &context](cli::Command& parent) {
      verb.add(parent, context);
      if (!is_arena && !verb.aliases.empty()) parent.FindChild(verb.name)->Aliases(verb.aliases);
    });
  };
  const Verb both[] = {{"submit", AddSubmit, {}},
                       {"list", AddList, {"ls", "ps"}},
                       {"get", AddGet, {"status", "describe"}},
                       {"logs", AddLogs, {}},
                       {"attach", AddAttach, {"exec", "shell"}},
                       {"port-forward", AddPortForward, {}},
                       {"logviewer", AddLogViewer, {}},
                       {"delete", AddDelete, {}},
                       {"prune", AddPrune, {}},
                       {"suspend", AddSuspend, {"stop"}},
                       {"resume", AddResume, {}},
                       {"top", AddTop, {}},
                       {"tensorboard", AddTensorboard, {}},
                       {"data", AddData, {}},
                       {"apply", AddApply, {}},
                       {"diff", AddDiff, {}},
                       {"install", AddInstall, {}},
                       {"uninstall", AddUninstall, {}},
                       {"version", AddVersion, {}},
                       {"whoami", AddWhoami, {}}};
  const Verb ours[] = {
      {"run", AddRun, {}},        {"secret", AddSecret, {}}, {"history", AddHistory, {}},
      {"show", AddShow, {}},      {"report", AddReport, {}}, {"explain", AddExplain, {}},
      {"what-if", AddWhatIf, {}}, {"stacks", AddStacks, {}}, {"compare", AddCompare, {}},
      {"rerun", AddRerun, {}},    {"code", AddCode, {}},     {"files", AddFiles, {}},
      {"cp", AddCp, {}}};
  for (const Verb& verb : both) add(verb);
  root.AddLater("", AddUnsupportedCommands);
  if (is_arena) {
    // Arena's form of it; otherwise Execute adds ours, which knows more shells.
    AddArenaCompletion(root);
    return;
  }
  for (const Verb& verb : ours) add(verb);
  root.Synonyms(kSynonyms);
  root.RunsPrograms("run");
}

}  // namespace arena
