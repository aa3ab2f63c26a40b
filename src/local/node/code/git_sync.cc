#include "local/node/code/git_sync.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "base/strings.h"

namespace local::node {
namespace {

// Settings of git-sync that have no effect on a single synchronisation on this machine.
constexpr std::array<std::string_view, 5> kSilent = {"GIT_SYNC_ROOT", "GIT_SYNC_ONE_TIME",
                                                     "GIT_SYNC_ADD_USER", "GIT_SYNC_GIT",
                                                     "GIT_SYNC_ERROR_FILE"};

base::Error Bad(const std::string& name, const std::string& value, std::string_view expected) {
  return {base::Code::kInvalidArgument, fmt::format("{}: \"{}\" is not {}", name, value, expected),
          0};
}

// Go's strconv.ParseBool.
base::Result<bool> ParseBool(const std::string& name, const std::string& value) {
  for (const std::string_view yes : {"1", "t", "T", "true", "TRUE", "True"}) {
    if (value == yes) return true;
  }
  for (const std::string_view no : {"0", "f", "F", "false", "FALSE", "False"}) {
    if (value == no) return false;
  }
  return base::Fail(Bad(name, value, "true or false"));
}

base::Result<int64_t> ParseNumber(const std::string& name, const std::string& value,
                                  int64_t lowest) {
  const auto number = base::ParseInt(value);
  if (!number || *number < lowest) return base::Fail(Bad(name, value, "a number that fits"));
  return *number;
}

// Seconds with a fraction, or a Go duration.
base::Result<std::chrono::milliseconds> ParseWait(const std::string& name,
                                                  const std::string& value) {
  if (const auto seconds = base::ParseInt(value); seconds && *seconds >= 0 && *seconds < 1 << 30) {
    return std::chrono::milliseconds(*seconds * 1000);
  }
  const bool has_unit = !value.empty() && value.back() == 's';
  const auto duration = base::ParseGoDuration(has_unit ? value : value + "s");
  if (!duration || duration->count() < 0) return base::Fail(Bad(name, value, "a time"));
  return std::chrono::duration_cast<std::chrono::milliseconds>(*duration);
}

base::Status Apply(const std::string& name, const std::string& value, GitSyncSettings& settings) {
  using Submodules = GitSyncSettings::Submodules;
  static const std::map<std::string_view, std::string GitSyncSettings::*> kStrings = {
      {"GIT_SYNC_REPO", &GitSyncSettings::repo},
      {"GIT_SYNC_DEST", &GitSyncSettings::dest},
      {"GIT_SYNC_BRANCH", &GitSyncSettings::branch},
      {"GIT_SYNC_REV", &GitSyncSettings::revision},
      {"GIT_SYNC_USERNAME", &GitSyncSettings::username},
      {"GIT_SYNC_PASSWORD", &GitSyncSettings::password},
      {"GIT_SYNC_SSH_KEY_FILE", &GitSyncSettings::ssh_key_file},
      {"GIT_SSH_KEY_FILE", &GitSyncSettings::ssh_key_file},
      {"GIT_SYNC_SSH_KNOWN_HOSTS_FILE", &GitSyncSettings::known_hosts_file},
      {"GIT_SSH_KNOWN_HOSTS_FILE", &GitSyncSettings::known_hosts_file},
      {"SSH_KNOWN_HOSTS_FILE", &GitSyncSettings::known_hosts_file},
  };
  if (const auto found = kStrings.find(name); found != kStrings.end()) {
    settings.*(found->second) = value;
  } else if (name == "GIT_SYNC_DEPTH") {
    TRY_ASSIGN(settings.depth, ParseNumber(name, value, 0));
  } else if (name == "GIT_SYNC_SSH") {
    TRY_ASSIGN(settings.uses_ssh, ParseBool(name, value));
  } else if (name == "GIT_KNOWN_HOSTS" || name == "GIT_SYNC_KNOWN_HOSTS" ||
             name == "GIT_SYNC_SSH_KNOWN_HOSTS") {
    TRY_ASSIGN(settings.checks_known_hosts, ParseBool(name, value));
  } else if (name == "GIT_SYNC_SUBMODULES") {
    if (value != "off" && value != "shallow" && value != "recursive") {
      return base::Fail(Bad(name, value, "off, shallow or recursive"));
    }
    settings.submodules = value == "off"       ? Submodules::kOff
                          : value == "shallow" ? Submodules::kShallow
                                               : Submodules::kRecursive;
  } else if (name == "GIT_SYNC_TIMEOUT" || name == "GIT_SYNC_SYNC_TIMEOUT") {
    TRY_ASSIGN(const auto wait, ParseWait(name, value));
    settings.timeout = std::chrono::ceil<std::chrono::seconds>(wait);
  } else if (name == "GIT_SYNC_MAX_FAILURES" || name == "GIT_SYNC_MAX_SYNC_FAILURES") {
    TRY_ASSIGN(settings.max_failures, ParseNumber(name, value, -1));
  } else if (name == "GIT_SYNC_WAIT" || name == "GIT_SYNC_PERIOD") {
    TRY_ASSIGN(settings.retry_wait, ParseWait(name, value));
  } else if (name.starts_with("GIT_SYNC_") &&
             std::find(kSilent.begin(), kSilent.end(), name) == kSilent.end()) {
    settings.warnings.push_back("warning: " + name + " has no effect here");
  }
  return {};
}

std::string LastPart(std::string_view repo) {
  while (repo.ends_with('/')) repo.remove_suffix(1);
  if (repo.ends_with(".git")) repo.remove_suffix(4);
  const size_t slash = repo.find_last_of("/:");
  return std::string(slash == std::string_view::npos ? repo : repo.substr(slash + 1));
}

}  // namespace

base::Result<GitSyncSettings> ParseGitSync(const EnvList& env) {
  GitSyncSettings settings;
  std::map<std::string, std::string> last;
  for (const auto& [name, value] : env) last[name] = value;
  for (const auto& [name, value] : last) {
    // git-sync treats an empty variable as unset.
    if (!value.empty()) TRY(Apply(name, value, settings));
  }
  if (settings.repo.empty()) {
    return base::Fail(base::Code::kInvalidArgument, "GIT_SYNC_REPO is not set");
  }
  if (settings.repo.starts_with('-')) {
    return base::Fail(Bad("GIT_SYNC_REPO", settings.repo, "a repository"));
  }
  for (const std::string* const ref : {&settings.branch, &settings.revision}) {
    if (ref->starts_with('-')) return base::Fail(Bad("GIT_SYNC_REV", *ref, "a revision"));
  }
  if (settings.dest.empty()) settings.dest = LastPart(settings.repo);
  if (settings.dest.empty() || settings.dest == "." || settings.dest == ".." ||
      settings.dest.find('/') != std::string::npos) {
    return base::Fail(Bad("GIT_SYNC_DEST", settings.dest, "the name of a directory"));
  }
  if (settings.revision == "HEAD") settings.revision.clear();
  return settings;
}

std::string SshCommand(const GitSyncSettings& settings) {
  std::string command = "ssh -o BatchMode=yes";
  if (!settings.ssh_key_file.empty()) {
    command += " -o IdentitiesOnly=yes -i " + base::ShellQuote(settings.ssh_key_file);
  }
  if (!settings.checks_known_hosts) {
    command += " -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null";
  } else if (!settings.known_hosts_file.empty()) {
    command += " -o StrictHostKeyChecking=yes -o " +
               base::ShellQuote("UserKnownHostsFile=" + settings.known_hosts_file);
  }
  return command;
}

std::string CredentialScope(std::string_view url) {
  const size_t scheme_end = url.find("://");
  if (scheme_end == std::string_view::npos) return "";
  const std::string scheme = base::ToLower(url.substr(0, scheme_end));
  if (scheme != "http" && scheme != "https") return "";
  std::string_view authority = url.substr(scheme_end + 3);
  authority = authority.substr(0, authority.find_first_of("/?#"));
  if (const size_t at = authority.rfind('@'); at != std::string_view::npos) {
    authority.remove_prefix(at + 1);
  }
  return fmt::format("{}://{}", scheme, authority);
}

std::string UserOfUrl(std::string_view url) {
  const size_t scheme_end = url.find("://");
  if (scheme_end == std::string_view::npos) return "";
  std::string_view authority = url.substr(scheme_end + 3);
  authority = authority.substr(0, authority.find_first_of("/?#"));
  const size_t at = authority.rfind('@');
  if (at == std::string_view::npos) return "";
  const std::string_view user = authority.substr(0, at);
  return base::PercentDecode(user.substr(0, user.find(':')));
}

std::string Scrub(std::string_view text, std::string_view secret) {
  std::string shown;
  while (true) {
    const size_t scheme_end = text.find("://");
    if (scheme_end == std::string_view::npos) break;
    const size_t begin = scheme_end + 3;
    shown += text.substr(0, begin);
    text.remove_prefix(begin);
    const std::string_view authority = text.substr(0, text.find_first_of("/?# \t\r\n'\"<>"));
    if (const size_t at = authority.rfind('@'); at != std::string_view::npos) {
      text.remove_prefix(at + 1);
    }
  }
  shown += text;
  if (secret.empty()) return shown;
  for (size_t at = shown.find(secret); at != std::string::npos; at = shown.find(secret, at + 3)) {
    shown.replace(at, secret.size(), "***");
  }
  return shown;
}

}  // namespace local::node
