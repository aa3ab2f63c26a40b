#include "local/node/code/code_sync.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/file.h"
#include "base/machine/disk.h"
#include "base/strings.h"
#include "local/node/code/git_sync.h"
#include "local/node/code/tree_copy.h"
#include "local/node/pod/container_process.h"
#include "process/child_command.h"
#include "process/file_lock.h"
#include "process/procfs.h"
#include "process/spawn.h"
#include "text/json.h"

namespace local::node {
namespace {

constexpr int kFailure = 1;
constexpr int kMissingProgram = 127;  // as in a shell
constexpr const char* kUserVariable = "MUSTER_GIT_USERNAME";
constexpr const char* kPasswordVariable = "MUSTER_GIT_PASSWORD";
// git's credential protocol: answers "get" from variables that only git and its children have.
constexpr const char* kCredentialHelper =
    "!f() { test \"$1\" = get && printf 'username=%s\\npassword=%s\\n' "
    "\"$MUSTER_GIT_USERNAME\" \"$MUSTER_GIT_PASSWORD\"; }; f";

constexpr const char* kTrustingUploadPack = "--upload-pack=git -c safe.directory='*' upload-pack";

void Print(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    text.remove_prefix(static_cast<size_t>(written));
  }
}

bool IsNoRoom(std::string_view words) {
  return words.find(std::strerror(ENOSPC)) != std::string::npos ||
         words.find(std::strerror(EDQUOT)) != std::string::npos;
}

std::string NoRoomFor(const std::string& folder) {
  return base::NoSpaceOn(folder) +
         ": delete jobs (`muster prune`, `muster delete`), or other files there";
}

// The outcome of the job's one synchronisation, kept in its directory.
struct Outcome {
  int64_t attempt = 0;
  bool is_done = false;
  std::string boot_id;  // a checkout of an earlier boot may be incomplete on disk
  std::string commit;
  std::string failure;  // the output of a failure
};

Outcome ReadOutcome(const std::string& path) {
  Outcome outcome;
  const auto content = base::ReadFile(path, 1 << 20);
  if (!content) return outcome;
  const auto json = text::ParseJson(*content);
  if (!json) return outcome;
  outcome.attempt = text::GetInt(*json, {"attempt"}).value_or(0);
  outcome.is_done = text::GetBool(*json, {"isDone"}).value_or(false);
  outcome.boot_id = text::GetString(*json, {"bootId"});
  outcome.commit = text::GetString(*json, {"commit"});
  outcome.failure = text::GetString(*json, {"failure"});
  return outcome;
}

base::Status WriteOutcome(const std::string& path, const Outcome& outcome) {
  text::Object object;
  object["attempt"] = outcome.attempt;
  object["isDone"] = outcome.is_done;
  object["bootId"] = outcome.boot_id;
  object["commit"] = outcome.commit;
  object["failure"] = outcome.failure;
  return base::WriteFileAtomic(path, text::ToJson(object), 0600, base::Durability::kNone);
}

class GitSync {
 public:
  GitSync(const PodSpec& pod, const ContainerSpec& spec, GitSyncSettings settings)
      : pod_(pod), settings_(std::move(settings)), env_(GitEnvironment(pod, spec)) {
    // One checkout for each set of settings among the job's replicas.
    const std::string key =
        fmt::format("{}\n{}\n{}\n{}\n{}\n{}", settings_.repo, settings_.dest, settings_.branch,
                    settings_.revision, settings_.depth, static_cast<int>(settings_.submodules));
    directory_ = pod.job_code_directory + "/" + base::Md5Hex(key).substr(0, 12);
    checkout_ = directory_ + "/" + settings_.dest;
  }

  // Returns the exit code.
  int Run() {
    for (const std::string& warning : settings_.warnings) Say(warning);
    if (!process::FindProgram("git", process::PathOf(env_))) {
      Say("git is not installed on this machine, and --sync-mode=git needs it: "
          "install the package `git`");
      return kMissingProgram;
    }
    const base::Status done = Synchronise();
    if (done) return 0;
    if (!done.error().message.empty()) Say(std::string(base::Trim(done.error().message)));
    // git has removed its incomplete checkout, so only its message shows the reason.
    if (IsNoRoom(printed_)) Say(NoRoomFor(pod_.job_code_directory));
    return kFailure;
  }

 private:
  // The message of an error is what remains to be printed.
  base::Status Synchronise() {
    TRY_ASSIGN(const std::string boot_id, process::BootId());
    TRY(base::MakeDirs(directory_, 0700));
    const std::string state_path = directory_ + "/sync.json";
    const int64_t attempt_before = ReadOutcome(state_path).attempt;
    TRY_ASSIGN(const base::Fd lock, process::LockFile(directory_ + "/lock"));
    Outcome outcome = ReadOutcome(state_path);
    if (!outcome.is_done || outcome.boot_id != boot_id) {
      if (outcome.attempt != attempt_before && !outcome.is_done) {
        // Another pod of the job tried while this one waited, so its failure is ours.
        return base::Fail(base::Code::kUnavailable, outcome.failure);
      }
      const base::Status tried = TryUntilDone();
      outcome = {outcome.attempt + 1, tried.has_value(), boot_id, commit_, printed_};
      TRY(WriteOutcome(state_path, outcome));
      if (!tried) return base::Fail(base::Code::kUnavailable, "");
    }
    TRY(CopyIntoPod());
    Print(STDOUT_FILENO, fmt::format("{} at {}\n", Scrub(settings_.repo, settings_.password),
                                     outcome.commit.substr(0, 12)));
    return {};
  }

  base::Status TryUntilDone() {
    for (int64_t failures = 0;;) {
      printed_.clear();
      const base::Status tried = Clone();
      if (tried) return tried;
      if (!tried.error().message.empty()) Say(tried.error().message);
      ++failures;
      if (settings_.max_failures >= 0 && failures > settings_.max_failures) return tried;
      ::poll(nullptr, 0, static_cast<int>(settings_.retry_wait.count()));
    }
  }

  base::Status Clone() {
    TRY(base::RemoveTree(checkout_));
    std::vector<std::string> argv = {"git", "clone", "--quiet", "--no-checkout"};
    if (settings_.depth > 0) argv.push_back(fmt::format("--depth={}", settings_.depth));
    if (!settings_.branch.empty()) argv.push_back("--branch=" + settings_.branch);
    if (IsLocal()) {
      // The user has named a repository of another owner: git's check protects against repositories
      // found by accident. For the sending side of a local clone this is the only way to pass it.
      argv.insert(argv.end(), {"--no-local", kTrustingUploadPack});
    }
    argv.insert(argv.end(), {"--", settings_.repo, checkout_});
    TRY(Git(argv, fmt::format("clone {}", settings_.repo)));
    TRY(CheckOut());
    TRY(UpdateSubmodules());
    const auto head = GitOutput({"git", "rev-parse", "--verify", "--quiet", "HEAD"});
    if (!head) {
      return base::Fail(base::Code::kInvalidArgument,
                        fmt::format("{} is empty: there is nothing to check out", settings_.repo));
    }
    commit_ = *head;
    return {};
  }

  base::Status CheckOut() {
    if (settings_.revision.empty()) {
      return Git({"git", "checkout", "--quiet"}, "check out");
    }
    std::string commit = settings_.revision;
    const auto known = GitOutput({"git", "rev-parse", "--verify", "--quiet", commit + "^{commit}"});
    if (!known) {
      std::vector<std::string> argv = {"git", "fetch", "--quiet"};
      if (settings_.depth > 0) argv.push_back(fmt::format("--depth={}", settings_.depth));
      if (IsLocal()) argv.push_back(kTrustingUploadPack);
      argv.insert(argv.end(), {"origin", settings_.revision});
      TRY(FetchRevision(argv));
      commit = "FETCH_HEAD";
    }
    return Git({"git", "checkout", "--quiet", "--detach", commit}, "check out");
  }

  base::Status FetchRevision(const std::vector<std::string>& argv) {
    std::string words;
    const auto code = process::RunToEnd({argv, env_, checkout_, settings_.timeout},
                                        [&](std::string_view output) { words += output; });
    if (!code) return base::Fail(code.error().Wrap("fetch"));
    if (*code == 0) return {};
    for (const char* const absent : {"couldn't find remote ref", "not our ref"}) {
      if (words.find(absent) == std::string::npos) continue;
      return base::Fail(
          base::Code::kInvalidArgument,
          fmt::format("revision \"{}\" does not exist in {}", settings_.revision, settings_.repo));
    }
    Pass(words);
    return base::Fail(base::Code::kUnavailable, words.empty() ? "fetch: git failed" : "");
  }

  base::Status UpdateSubmodules() {
    if (settings_.submodules == GitSyncSettings::Submodules::kOff ||
        ::access((checkout_ + "/.gitmodules").c_str(), F_OK) != 0) {
      return {};
    }
    std::vector<std::string> argv = {"git"};
    if (IsLocal()) argv.insert(argv.end(), {"-c", "protocol.file.allow=always"});
    argv.insert(argv.end(), {"submodule", "--quiet", "update", "--init"});
    if (settings_.submodules == GitSyncSettings::Submodules::kRecursive) {
      argv.push_back("--recursive");
    }
    if (settings_.depth > 0) argv.push_back(fmt::format("--depth={}", settings_.depth));
    return Git(argv, "update submodules");
  }

  // First into a temporary name, so that the final path is always complete.
  base::Status CopyIntoPod() {
    const std::string code = pod_.directory + "/code";
    const std::string target = code + "/" + settings_.dest;
    const std::string fresh = code + "/.muster-new";
    TRY(base::MakeDirs(code, 0755));
    TRY(base::RemoveTree(fresh));
    TRY(CopyTree(checkout_, fresh));
    // The mount point of a volume inside of the code cannot be removed.
    const base::Status removed = base::RemoveTree(target);
    if (!removed && removed.error().os_errno != EBUSY) return removed;
    return MoveTree(fresh, target);
  }

  bool IsLocal() const {
    return settings_.repo.starts_with("file://") || settings_.repo.starts_with('/');
  }

  // git's output is printed; the error adds only what it does not contain.
  base::Status Git(const std::vector<std::string>& argv, const std::string& what) {
    const bool has_directory = ::access((checkout_ + "/.git").c_str(), F_OK) == 0;
    const process::ChildCommand command{argv, env_, has_directory ? checkout_ : "/",
                                        settings_.timeout};
    bool has_spoken = false;
    const auto code = process::RunToEnd(command, [&](std::string_view output) {
      has_spoken = true;
      Pass(output);
    });
    if (!code) {
      if (code.error().code == base::Code::kTimeout) {
        return base::Fail(base::Code::kTimeout,
                          fmt::format("{}: {} (GIT_SYNC_TIMEOUT)", what, code.error().message));
      }
      return base::Fail(code.error());
    }
    if (*code == 0) return {};
    const std::string words = fmt::format("{}: git ended with code {}", what, *code);
    return base::Fail(base::Code::kUnavailable, has_spoken ? "" : words);
  }

  base::Result<std::string> GitOutput(const std::vector<std::string>& argv) {
    std::string output;
    TRY_ASSIGN(const int code, process::RunToEnd({argv, env_, checkout_, settings_.timeout},
                                                 [&](std::string_view piece) { output += piece; }));
    if (code != 0) return base::Fail(base::Code::kUnavailable, output);
    return std::string(base::Trim(output));
  }

  void Say(const std::string& line) { Pass(line + "\n"); }
  void Pass(std::string_view text) {
    const std::string shown = Scrub(text, settings_.password);
    printed_ += shown;
    Print(STDERR_FILENO, shown);
  }

  std::vector<std::string> GitEnvironment(const PodSpec& pod, const ContainerSpec& spec) const {
    std::vector<std::string> env = ContainerEnvironment(pod, spec);
    // Removes variables that could make git ask a person, or pass the secret on.
    std::erase_if(env, [](const std::string& entry) {
      return entry.starts_with("GIT_SYNC_PASSWORD=") || entry.starts_with("GIT_ASKPASS=") ||
             entry.starts_with("SSH_ASKPASS=") || entry.starts_with("GIT_DIR=") ||
             entry.starts_with("GIT_WORK_TREE=") || entry.starts_with("GIT_CONFIG_");
    });
    env.push_back("GIT_TERMINAL_PROMPT=0");
    env.push_back("GIT_SSH_COMMAND=" + SshCommand(settings_));
    std::vector<std::pair<std::string, std::string>> config;
    const std::string scope = CredentialScope(settings_.repo);
    if (!settings_.password.empty() && !scope.empty()) {
      config.emplace_back("credential." + scope + ".helper", "");
      config.emplace_back("credential." + scope + ".helper", kCredentialHelper);
      std::string user = settings_.username;
      if (user.empty()) user = UserOfUrl(settings_.repo);
      env.push_back(fmt::format("{}={}", kUserVariable, user.empty() ? "git" : user));
      env.push_back(fmt::format("{}={}", kPasswordVariable, settings_.password));
    }
    env.push_back(fmt::format("GIT_CONFIG_COUNT={}", config.size()));
    for (size_t i = 0; i < config.size(); ++i) {
      env.push_back(fmt::format("GIT_CONFIG_KEY_{}={}", i, config[i].first));
      env.push_back(fmt::format("GIT_CONFIG_VALUE_{}={}", i, config[i].second));
    }
    return env;
  }

  const PodSpec& pod_;
  const GitSyncSettings settings_;
  const std::vector<std::string> env_;
  std::string directory_;
  std::string checkout_;
  std::string commit_;
  std::string printed_;
};

// A pod has no folder that a relative path could refer to, and a folder that contains the pod's own
// would be copied into itself endlessly.
base::Status CheckRsyncSource(const std::string& source, const std::string& pod_directory) {
  if (source == "." || source == ".." || source.starts_with("./") || source.starts_with("../")) {
    return base::Fail(
        base::Code::kInvalidArgument,
        fmt::format("rsync: the source \"{}\" is relative: give an absolute path", source));
  }
  if (!source.starts_with('/')) return {};
  std::error_code failed;
  std::string outer = std::filesystem::canonical(source, failed).string();
  if (failed) return {};  // rsync reports it
  if (!outer.ends_with('/')) outer += '/';
  const std::string inner = std::filesystem::canonical(pod_directory, failed).string();
  if (failed || !(inner + "/").starts_with(outer)) return {};
  return base::Fail(
      base::Code::kInvalidArgument,
      fmt::format("rsync: the source \"{}\" contains the pod's own folder {}: name the "
                  "folder of the code",
                  source, pod_directory));
}

int RunRsync(const PodSpec& pod, const ContainerSpec& spec) {
  const std::string code = pod.directory + "/code";
  if (auto made = base::MakeDirs(code, 0755); !made) {
    Print(STDERR_FILENO, made.error().message + "\n");
    return kFailure;
  }
  // Runs in a folder where a relative name refers to nothing of the machine.
  process::ChildCommand command{spec.argv, ContainerEnvironment(pod, spec), code,
                                std::chrono::seconds(0)};
  for (std::string& word : command.argv) {
    if (word == "/code" || word.starts_with("/code/")) {
      word = code + word.substr(5);
    } else if (auto fine = CheckRsyncSource(word, pod.directory); !fine) {
      Print(STDERR_FILENO, fine.error().message + "\n");
      return kFailure;
    }
  }
  if (command.argv.empty()) command.argv = {"rsync"};
  std::string password;
  for (const auto& [name, value] : spec.env) {
    if (name == "RSYNC_PASSWORD") password = value;
  }
  bool has_no_room = false;
  const auto ended = process::RunToEnd(command, [&](std::string_view output) {
    has_no_room = has_no_room || IsNoRoom(output);
    Print(STDERR_FILENO, Scrub(output, password));
  });
  if (ended && *ended != 0 && has_no_room) Print(STDERR_FILENO, NoRoomFor(code) + "\n");
  if (ended) return *ended;
  if (ended.error().code == base::Code::kNotFound) {
    Print(STDERR_FILENO, fmt::format("{} is not installed on this machine, and --sync-mode=rsync "
                                     "needs it: install the package `rsync`\n",
                                     command.argv[0]));
    return kMissingProgram;
  }
  Print(STDERR_FILENO, ended.error().message + "\n");
  return kFailure;
}

}  // namespace

int RunCodeSync(const PodSpec& pod, const ContainerSpec& spec) {
  if (spec.kind == ContainerSpec::Kind::kRsync) return RunRsync(pod, spec);
  auto settings = ParseGitSync(spec.env);
  if (!settings) {
    Print(STDERR_FILENO, Scrub(settings.error().message, "") + "\n");
    return kFailure;
  }
  return GitSync(pod, spec, std::move(*settings)).Run();
}

}  // namespace local::node
