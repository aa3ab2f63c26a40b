// git-sync's settings, as its version 3 reads them from the environment. Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "local/node/plan/pod_spec.h"

namespace local::node {

struct GitSyncSettings {
  enum class Submodules { kOff, kShallow, kRecursive };

  std::string repo;
  std::string dest;      // directory name of the checkout
  std::string branch;    // "" is the remote's own HEAD
  std::string revision;  // "" is the head of the branch
  int64_t depth = 0;     // 0 is the whole history
  std::string username;
  std::string password;
  bool uses_ssh = false;
  std::string ssh_key_file;
  bool checks_known_hosts = true;
  std::string known_hosts_file;
  Submodules submodules = Submodules::kRecursive;
  std::chrono::seconds timeout{120};  // 0 is none
  int64_t max_failures = 0;           // further tries after the first failure; -1 is for ever
  std::chrono::milliseconds retry_wait{1000};

  std::vector<std::string> warnings;  // variables that are unknown or have no effect here
};

// kInvalidArgument with the variable's name when a value cannot be read.
base::Result<GitSyncSettings> ParseGitSync(const EnvList& env);

// "ssh ..." for GIT_SSH_COMMAND.
std::string SshCommand(const GitSyncSettings& settings);

// "https://host:8080" of an http(s) URL, for which alone the password is meant; "" of others.
std::string CredentialScope(std::string_view url);

// "tom" of https://tom@host/x or https://tom:secret@host/x, decoded; "" when it names nobody.
std::string UserOfUrl(std::string_view url);

// `text` without what must not be shown: user and password in URLs, and every occurrence of
// `secret`.
std::string Scrub(std::string_view text, std::string_view secret);

}  // namespace local::node
