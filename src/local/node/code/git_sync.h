// The settings of git-sync, as its version 3 reads them from the environment. Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "local/node/pod/pod_spec.h"

namespace local::node {

struct GitSyncSettings {
  enum class Submodules { kOff, kShallow, kRecursive };

  std::string repo;
  std::string dest;      // name of the checkout's directory
  std::string branch;    // "": the remote's HEAD
  std::string revision;  // "": the head of the branch
  int64_t depth = 0;     // 0: the whole history
  std::string username;
  std::string password;
  bool uses_ssh = false;
  std::string ssh_key_file;
  bool checks_known_hosts = true;
  std::string known_hosts_file;
  Submodules submodules = Submodules::kRecursive;
  std::chrono::seconds timeout{120};  // 0: none
  int64_t max_failures = 0;           // attempts after the first failure; -1: no limit
  std::chrono::milliseconds retry_wait{1000};

  std::vector<std::string> warnings;  // about variables that are unknown or have no effect here
};

// kInvalidArgument, naming the variable, when a value cannot be parsed.
base::Result<GitSyncSettings> ParseGitSync(const EnvList& env);

// "ssh ..." for GIT_SSH_COMMAND.
std::string SshCommand(const GitSyncSettings& settings);

// "https://host:8080" for an http(s) URL: the password is for this host only; "" for other URLs.
std::string CredentialScope(std::string_view url);

// "tom" for https://tom@host/x or https://tom:secret@host/x, decoded; "" when the URL has no user.
std::string UserOfUrl(std::string_view url);

// `text` without user and password in URLs, and without any occurrence of `secret`.
std::string Scrub(std::string_view text, std::string_view secret);

}  // namespace local::node
