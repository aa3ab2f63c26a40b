#include "arena/app/app.h"

#include <fmt/format.h>
#include <unistd.h>

#include "arena/app/complete_names.h"
#include "arena/verbs.h"
#include "base/file.h"
#include "base/log.h"
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
void AddOtherWords(cli::Command& root) {
  root.FindChild("list")->Aliases({"ls", "ps"});
  root.FindChild("get")->Aliases({"status", "describe"});
  root.FindChild("suspend")->Aliases({"stop"});
  root.FindChild("attach")->Aliases({"exec", "shell"});
  root.Synonyms(
      {{"kill", "stop"},       {"cancel", "stop"},    {"abort", "stop"},     {"pause", "suspend"},
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
       {"qdel", "stop"},       {"sinfo", "top node"}, {"login", "cluster"},  {"wait", "logs -f"}});
}

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
  return fmt::format("uid-{}", ::getuid());
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
  if (context.program != "arena") AddRun(root, context);
  AddSubmit(root, context);
  AddList(root, context);
  AddGet(root, context);
  AddLogs(root, context);
  AddAttach(root, context);
  AddPortForward(root, context);
  AddLogViewer(root, context);
  AddDelete(root, context);
  AddPrune(root, context);
  AddSuspend(root, context);
  AddResume(root, context);
  cli::Command& top = root.Add("top", "Show the GPUs of nodes and jobs");
  AddTopNode(top, context);
  AddTopJob(top, context);
  AddTensorboard(root, context);
  AddData(root, context);
  if (context.program != "arena") {
    AddSecret(root, context);
    AddHistory(root, context);
    AddShow(root, context);
    AddReport(root, context);
    AddExplain(root, context);
    AddWhatIf(root, context);
    AddStacks(root, context);
    AddCompare(root, context);
    AddRerun(root, context);
    AddCode(root, context);
    AddFiles(root, context);
    AddCp(root, context);
  }
  AddApply(root, context);
  AddDiff(root, context);
  AddInstall(root, context);
  AddUninstall(root, context);
  AddVersion(root, context);
  AddWhoami(root, context);
  AddUnsupportedCommands(root);
  if (context.program != "arena") AddOtherWords(root);
  // Arena's form of it; otherwise Execute adds ours, which knows more shells.
  if (context.program == "arena") AddArenaCompletion(root);
}

}  // namespace arena
