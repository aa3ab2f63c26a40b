// The flags and variables that say where the code comes from, and the secrets among them.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "arena/submit/job/files.h"
#include "arena/submit/job/options.h"
#include "arena/submit/job/refusal.h"
#include "arena/submit/job/render_parts.h"
#include "base/strings.h"
#include "net/socket/code_address.h"

namespace arena {
namespace {

constexpr std::string_view kGitPassword = "GIT_SYNC_PASSWORD";
constexpr std::string_view kRsyncPassword = "RSYNC_PASSWORD";

// The variables of git-sync v3 that the code sync knows (compat/arena.md 3.2).
constexpr std::array kGitSyncVariables = {
    "USERNAME",        "PASSWORD",     "BRANCH",       "REV",
    "DEPTH",           "SSH",          "SSH_KEY_FILE", "SUBMODULES",
    "TIMEOUT",         "SYNC_TIMEOUT", "MAX_FAILURES", "MAX_SYNC_FAILURES",
    "KNOWN_HOSTS",     "REPO",         "DEST",         "ROOT",
    "ONE_TIME",        "WAIT",         "PERIOD",       "SSH_KNOWN_HOSTS_FILE",
    "SSH_KNOWN_HOSTS", "ADD_USER",     "GIT",          "ERROR_FILE"};

bool IsHttp(std::string_view source) {
  const std::string scheme = base::ToLower(source.substr(0, source.find("://")));
  return scheme == "http" || scheme == "https";
}

// Pods have another working folder: makes a relative path absolute, from the caller's folder. rsync
// treats `dir/` as what is in it, and `.` likewise.
base::Result<std::string> OfCallersFolder(std::string_view path) {
  if (path.starts_with('/')) return std::string(path);
  std::error_code failed;
  const std::string folder = std::filesystem::current_path(failed).string();
  if (failed) {
    return base::Fail(
        base::Code::kInvalidArgument,
        fmt::format("--sync-source is invalid: \"{}\" is relative to a folder that no "
                    "longer exists",
                    path));
  }
  while (path == "." || path.starts_with("./")) path.remove_prefix(path == "." ? 1 : 2);
  return fmt::format("{}/{}", folder == "/" ? "" : folder, path);
}

// "tom" of https://tom@host/...
std::string UserOfUrl(std::string_view url) {
  const size_t begin = url.find("://") + 3;
  const std::string_view authority = url.substr(begin, url.find('/', begin) - begin);
  const size_t at = authority.rfind('@');
  return at == std::string_view::npos ? "" : base::PercentDecode(authority.substr(0, at));
}

class CodeCheck {
 public:
  CodeCheck(SubmitOptions& options, const base::Environment& environment)
      : options_(options), flags_(options.flags), environment_(environment) {}

  base::Status Run() {
    TRY(ResolvePath());
    TRY(CheckMode());
    TRY(CheckGitFlags());
    if (flags_.sync_mode == "git") TakeUser();
    TRY(TakeCredentials());
    TakePasswords();
    WarnOfUnknownVariables();
    return {};
  }

 private:
  base::Status ResolvePath() {
    if (flags_.sync_mode == "local") return ResolveFolder();
    const std::string typed = flags_.sync_source;
    const bool has_mode = flags_.sync_mode == "git" || flags_.sync_mode == "rsync";
    if (!has_mode || !net::IsCodePath(typed) || typed.starts_with('-') ||
        base::Trim(typed).empty()) {
      return {};
    }
    TRY_ASSIGN(flags_.sync_source, OfCallersFolder(AtHome(typed, environment_)));
    options_.local_source = typed;
    return {};
  }

  base::Status ResolveFolder() {
    std::string& folder = flags_.sync_source;
    if (folder.empty()) folder = ".";
    if (!net::IsCodePath(folder)) {
      return Refuse(fmt::format(
          "--sync-source is invalid: \"{}\" is not a folder, which --sync-mode=local needs",
          folder));
    }
    if (!flags_.sync_image.empty()) {
      return Refuse("--sync-image is only for --sync-mode=git and rsync");
    }
    TRY_ASSIGN(folder, OfCallersFolder(AtHome(folder, environment_)));
    return {};
  }

  base::Status CheckMode() const {
    if (flags_.sync_mode == "local") return {};
    if (flags_.sync_mode.empty()) {
      if (flags_.sync_source.empty()) return {};
      return Refuse("--sync-mode should be set when --sync-source is set");
    }
    if (flags_.sync_mode != "git" && flags_.sync_mode != "rsync") {
      return Refuse(UnknownSyncMode(flags_.sync_mode));
    }
    if (flags_.sync_source.empty())
      return Refuse("--syncSource should be set when syncMode is set");
    // With a dash git and rsync would take it for one of their options; the project is a
    // directory's name.
    const std::string project = GitProject(flags_.sync_source);
    const bool is_git = flags_.sync_mode == "git";
    if (flags_.sync_source.starts_with('-') || base::Trim(flags_.sync_source).empty() ||
        (is_git && (project.empty() || project == "." || project == ".."))) {
      std::string shown = flags_.sync_source;
      TakePasswordOfUrl(shown);
      return Refuse(
          fmt::format("--sync-source is invalid: \"{}\" is not an address of code", shown));
    }
    return {};
  }

  base::Status CheckGitFlags() {
    if (flags_.git_depth < 0) {
      return Refuse("--git-depth is invalid: it is the number of commits, and 0 is all of them");
    }
    TRY(Put("--git-branch", flags_.git_branch, "GIT_SYNC_BRANCH", flags_.git_branch));
    TRY(Put("--git-revision", flags_.git_revision, "GIT_SYNC_REV", flags_.git_revision));
    const std::string depth = flags_.git_depth == 0 ? "" : std::to_string(flags_.git_depth);
    TRY(Put("--git-depth", depth, "GIT_SYNC_DEPTH", depth));
    for (const std::string* const ref : {&flags_.git_branch, &flags_.git_revision}) {
      if (!ref->starts_with('-')) continue;
      return Refuse(fmt::format("{} is invalid: \"{}\" is not a valid name",
                                ref == &flags_.git_branch ? "--git-branch" : "--git-revision",
                                *ref));
    }
    return CheckSshFiles();
  }

  base::Status CheckSshFiles() {
    const std::string key_file = SecretFile(kSshKeyFile);
    const std::string hosts_file = SecretFile(kKnownHostsFile);
    TRY(Put("--git-ssh-key", flags_.git_ssh_key, "GIT_SSH_KEY_FILE", key_file));
    TRY(Put("--git-known-hosts", flags_.git_known_hosts, "GIT_SSH_KNOWN_HOSTS_FILE", hosts_file));
    for (const auto& [flag, path] : {std::pair("--git-ssh-key", &flags_.git_ssh_key),
                                     std::pair("--git-known-hosts", &flags_.git_known_hosts)}) {
      if (!path->empty() && !net::IsCodeOverSsh(flags_.sync_source)) {
        return Refuse(fmt::format(
            "{} is only for a source over ssh (git@host:team/repo.git, ssh://host/path), "
            "not for {}",
            flag, IsHttp(flags_.sync_source) ? "one over http" : "this one"));
      }
    }
    if (!flags_.git_ssh_key.empty()) {
      TRY_ASSIGN(std::string key, ReadSecretFile("--git-ssh-key", flags_.git_ssh_key, environment_,
                                                 options_.warnings));
      if (key.find("PRIVATE KEY-----") == std::string::npos) {
        return Refuse(fmt::format("--git-ssh-key \"{}\" is invalid: it is not a private key{}",
                                  flags_.git_ssh_key,
                                  key.starts_with("ssh-") ? " (but a public one)" : ""));
      }
      if (!key.ends_with('\n')) key += '\n';  // ssh wants it
      options_.code_secrets.ssh_key = std::move(key);
      options_.code_env["GIT_SYNC_SSH"] = "true";
    }
    if (!flags_.git_known_hosts.empty()) {
      std::vector<std::string> of_no_concern;  // hosts' keys are public
      TRY_ASSIGN(
          options_.code_secrets.known_hosts,
          ReadSecretFile("--git-known-hosts", flags_.git_known_hosts, environment_, of_no_concern));
      options_.code_env["GIT_SYNC_SSH"] = "true";
    }
    return {};
  }

  // The flag for a variable of git-sync's; nothing is done when it was not given.
  base::Status Put(std::string_view flag, const std::string& typed, const std::string& variable,
                   const std::string& value) {
    if (typed.empty()) return {};
    if (flags_.sync_mode != "git") {
      return Refuse(fmt::format("{} is only for --sync-mode=git", flag));
    }
    if (options_.env.contains(variable)) {
      return Refuse(
          fmt::format("{} and --env={} say the same: leave out one of them", flag, variable));
    }
    options_.code_env[variable] = value;
    return {};
  }

  // git-sync uses a password only with a user, whom the URL may name.
  void TakeUser() {
    std::string& source = flags_.sync_source;
    if (!IsHttp(source)) return;
    options_.code_secrets.password = TakePasswordOfUrl(source);
    const bool has_password = options_.code_secrets.password ||
                              options_.env.contains(std::string(kGitPassword)) ||
                              IsFromSecret(kGitPassword);
    if (!has_password || options_.env.contains("GIT_SYNC_USERNAME")) return;
    const std::string user = UserOfUrl(source);
    options_.code_env["GIT_SYNC_USERNAME"] = user.empty() ? "git" : user;
  }

  base::Status TakeCredentials() {
    constexpr std::string_view kFlag = "--git-credentials";
    if (flags_.git_credentials.empty()) return {};
    if (flags_.sync_mode != "git" || !IsHttp(flags_.sync_source)) {
      return Refuse(fmt::format(
          "{} is only for --sync-mode=git and a source over http (over ssh: --git-ssh-key)",
          kFlag));
    }
    if (options_.code_secrets.password || options_.env.contains(std::string(kGitPassword)) ||
        IsFromSecret(kGitPassword)) {
      return Refuse(fmt::format("{} and {} say the same: leave out one of them", kFlag,
                                options_.code_secrets.password ? "--sync-source" : kGitPassword));
    }
    TRY_ASSIGN(const std::string text,
               ReadSecretFile(kFlag, flags_.git_credentials, environment_, options_.warnings));
    TRY_ASSIGN(GitCredentials credentials, ParseGitCredentials(text, flags_.sync_source));
    options_.code_secrets.password = std::move(credentials.password);
    if (options_.env.contains("GIT_SYNC_USERNAME")) return {};
    std::string user = credentials.user;
    if (user.empty()) user = UserOfUrl(flags_.sync_source);
    options_.code_env["GIT_SYNC_USERNAME"] = user.empty() ? "git" : user;
    return {};
  }

  void TakePasswords() {
    if (flags_.sync_mode == "rsync" && flags_.sync_source.find("://") != std::string::npos) {
      options_.code_secrets.password = TakePasswordOfUrl(flags_.sync_source);
    }
    if (flags_.sync_mode == "git" && !IsHttp(flags_.sync_source)) {
      // It has no effect, and must not be shown either.
      options_.code_secrets.password = TakePasswordOfUrl(flags_.sync_source);
    }
    Take(kGitPassword, flags_.sync_mode == "git");
    if (flags_.sync_mode == "rsync") Take(kRsyncPassword, true);
  }

  void Take(std::string_view variable, bool is_of_use) {
    const auto it = options_.env.find(std::string(variable));
    if (it == options_.env.end()) return;
    if (is_of_use) {
      options_.code_secrets.password = it->second;
    } else {
      options_.warnings.push_back(
          fmt::format("{} is ignored: it is only for --sync-mode=git", variable));
    }
    options_.env.erase(it);
    std::erase_if(flags_.env, [&](const std::string& entry) {
      return entry.starts_with(std::string(variable) + "=");
    });
  }

  bool IsFromSecret(std::string_view variable) const {
    return std::any_of(options_.secret_env.begin(), options_.secret_env.end(),
                       [&](const SecretEnv& entry) { return entry.name == variable; });
  }

  void WarnOfUnknownVariables() {
    constexpr std::string_view kPrefix = "GIT_SYNC_";
    for (const auto& [name, value] : options_.env) {
      if (!name.starts_with(kPrefix)) continue;
      const std::string_view rest = std::string_view(name).substr(kPrefix.size());
      if (std::find(kGitSyncVariables.begin(), kGitSyncVariables.end(), rest) ==
          kGitSyncVariables.end()) {
        options_.warnings.push_back(
            fmt::format("{} is not a variable that the code sync knows", name));
      }
    }
  }

  SubmitOptions& options_;
  SubmitFlags& flags_;
  const base::Environment& environment_;
};

}  // namespace

base::Status CheckCode(SubmitOptions& options, const base::Environment& environment) {
  return CodeCheck(options, environment).Run();
}

std::string LocalCodeFolder(const SubmitFlags& flags, const snapshot::Folder& folder) {
  const std::string& dir = flags.working_dir;
  return fmt::format("{}{}code/{}", dir, dir.ends_with('/') ? "" : "/",
                     folder.root.substr(folder.root.rfind('/') + 1));
}

std::string GitProject(std::string_view source) {
  const auto cut_slashes = [&source] {
    while (source.ends_with('/')) source.remove_suffix(1);
  };
  cut_slashes();
  if (constexpr std::string_view kOwnFolder = "/.git"; source.ends_with(kOwnFolder)) {
    source.remove_suffix(kOwnFolder.size());
    cut_slashes();
  }
  const size_t slash = source.find_last_of("/:");
  if (slash != std::string_view::npos) source.remove_prefix(slash + 1);
  const std::string_view project = source.substr(0, source.find(".git"));
  return std::string(project.empty() ? source : project);
}

std::optional<std::string> TakePasswordOfUrl(std::string& url) {
  const size_t scheme = url.find("://");
  if (scheme == std::string::npos) return std::nullopt;
  const size_t authority = scheme + 3;
  const size_t end = std::min(url.find('/', authority), url.size());
  const size_t at = url.rfind('@', end);
  if (at == std::string::npos || at < authority) return std::nullopt;
  const size_t colon = url.find(':', authority);
  if (colon == std::string::npos || colon > at) return std::nullopt;
  std::string password =
      base::PercentDecode(std::string_view(url).substr(colon + 1, at - colon - 1));
  url.erase(colon, at - colon);
  return password;
}

}  // namespace arena
