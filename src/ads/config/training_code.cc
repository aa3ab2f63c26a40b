#include "ads/config/training_code.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <optional>

#include "ads/config/opctl_config.h"
#include "base/defer.h"
#include "base/file.h"
#include "base/strings.h"
#include "base/uid.h"
#include "net/socket/code_address.h"
#include "net/socket/url.h"
#include "process/spawn.h"

namespace ads {
namespace {

namespace fs = std::filesystem;

constexpr size_t kSuffixLetters = 5;
// Of a file on the web.
constexpr size_t kMaxCodeBytes = 64 << 20;
constexpr std::chrono::minutes kCodeTimeout{10};

// Runs git with our streams; `extra` overrides our environment.
base::Status RunGit(const Context& context, const std::vector<std::string>& args,
                    const std::string& ssh_command) {
  process::SpawnOptions options;
  TRY_ASSIGN(options.path,
             process::FindProgram("git", context.environment.GetOr("PATH", "/usr/bin:/bin")));
  options.argv = {"git"};
  options.argv.insert(options.argv.end(), args.begin(), args.end());
  for (const auto& [name, value] : context.environment.values()) {
    if (name != "GIT_SSH_COMMAND" || ssh_command.empty()) options.env.push_back(name + "=" + value);
  }
  if (!ssh_command.empty()) options.env.push_back("GIT_SSH_COMMAND=" + ssh_command);
  options.env.emplace_back("GIT_TERMINAL_PROMPT=0");
  options.fds = {{STDIN_FILENO, 0}, {STDOUT_FILENO, 1}, {STDOUT_FILENO, 2}};
  TRY_ASSIGN(const pid_t pid, process::Spawn(options));
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) return base::Fail(base::Errno(errno, "wait for git"));
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  return base::Fail(base::Code::kInternal,
                    fmt::format("RuntimeError: git {} failed",
                                args.size() > 2 && args[0] == "-C" ? args[2] : args[0]));
}

// The option with which ssh reaches a repository through the proxy that ssh_proxy names; "" without
// one, or for a repository that is not reached over ssh. Those who set GIT_SSH_COMMAND say
// themselves how it is reached, unless the key is the vault's.
base::Result<std::string> ProxyOption(const Context& context, const EntrySettings& settings,
                                      cli::Output& out) {
  const base::Environment& environment = context.environment;
  const std::string proxy = environment.GetOr("ssh_proxy", environment.GetOr("SSH_PROXY", ""));
  const bool is_told = environment.Get("GIT_SSH_COMMAND") && settings.git_secret_id.empty();
  if (proxy.empty() || is_told || !net::IsCodeOverSsh(settings.uri)) return std::string();
  if (!process::FindProgram("socat", environment.GetOr("PATH", "/usr/bin:/bin"))) {
    TRY(out.Write("WARNING: ssh_proxy is set, and git does not use it: socat is not installed\n"));
    return std::string();
  }
  const auto url =
      net::ParseUrl(proxy.find("://") == std::string::npos ? "http://" + proxy : proxy);
  if (!url) return base::Fail(url.error().Wrap("ssh_proxy"));
  if (!url->user_info.empty()) {
    return base::Fail(
        base::Code::kInvalidArgument,
        "ValueError: ssh_proxy must not contain a user and password: socat would show "
        "them in the list of processes. Name a proxy that needs none, or set "
        "GIT_SSH_COMMAND");
  }
  return " -o " + base::ShellQuote(fmt::format("ProxyCommand=socat - PROXY:{}:%h:%p,proxyport={}",
                                               url->host, url->port));
}

// Moves an existing folder to <folder>_<five letters>.
base::Status MakeRoom(const std::string& folder, cli::Output& out) {
  std::error_code error;
  if (!fs::exists(folder, error) ||
      (fs::is_directory(folder, error) && fs::is_empty(folder, error))) {
    return {};
  }
  const std::string aside = folder + "_" + base::RandomName(kSuffixLetters);
  fs::rename(folder, aside, error);
  if (error) {
    return base::Fail(base::Errno(error.value(), fmt::format("move {} to {}", folder, aside)));
  }
  return out.Write(fmt::format("{} was not empty: it is {} now\n", folder, aside));
}

base::Status FetchFromGit(const EntrySettings& settings, const Context& context,
                          OciServices* services, cli::Output& out) {
  TRY_ASSIGN(const std::string proxy, ProxyOption(context, settings, out));
  TRY(MakeRoom(settings.code_dir, out));
  std::string ssh_command;
  if (!proxy.empty()) ssh_command = "ssh" + proxy;
  std::string key_path;
  std::optional<std::string> folder;
  const base::Defer forget_key([&] {
    if (!key_path.empty()) ::unlink(key_path.c_str());
    if (folder) ::rmdir(folder->c_str());
  });
  if (!settings.git_secret_id.empty()) {
    if (services == nullptr) {
      return base::Fail(base::Code::kUnavailable,
                        "RuntimeError: OCI__RUNTIME_GIT_SECRET_ID is set, and the vault is out of "
                        "reach here");
    }
    TRY_ASSIGN(std::string key, services->Secret(settings.git_secret_id));
    if (!key.ends_with('\n')) key += '\n';
    std::string path = ExpandHome(settings.git_key_path, context.environment);
    std::error_code error;
    // Another key that is there would be lost: this one is removed in the end.
    if (path.empty() || fs::exists(fs::symlink_status(path, error))) {
      folder = fmt::format("{}/ssh_{}", fs::temp_directory_path().string(), base::NewUid());
      TRY(base::MakeDirs(*folder));
      path = *folder + "/id_rsa";
    } else {
      TRY(base::MakeDirs(base::DirectoryOf(path)));
    }
    key_path = path;
    TRY(base::WriteFileAtomic(path, key, 0600, base::Durability::kNone));
    ssh_command =
        fmt::format("ssh -i {} -o IdentitiesOnly=yes -o StrictHostKeyChecking=accept-new{}",
                    base::ShellQuote(path), proxy);
  }
  TRY(RunGit(context, {"clone", "--", settings.uri, settings.code_dir}, ssh_command));
  const std::string& revision = settings.commit.empty() ? settings.branch : settings.commit;
  if (revision.empty()) return {};
  return RunGit(context, {"-C", settings.code_dir, "checkout", revision, "--"}, ssh_command);
}

// Names come from a storage: none may lead out of the folder.
bool IsSafeName(std::string_view name) {
  for (const std::string& part : base::Split(name, '/')) {
    if (part.empty() || part == "." || part == "..") return false;
  }
  return true;
}

base::Status FetchFromStorage(const EntrySettings& settings, OciServices* services,
                              cli::Output& out) {
  std::string uri = settings.uri;
  while (uri.ends_with('/')) uri.pop_back();
  const size_t slash = uri.rfind('/');
  const std::string base_name = uri.substr(slash + 1);
  TRY_ASSIGN(const auto storage, OpenStorage(uri.substr(0, slash), services));
  TRY_ASSIGN(const auto names, storage->List(base_name));
  size_t count = 0;
  for (const std::string& name : names) {
    if (name != base_name && !name.starts_with(base_name + "/")) continue;
    if (!IsSafeName(name)) continue;
    TRY(storage->GetFile(name, settings.code_dir + "/" + name));
    ++count;
  }
  if (count == 0) {
    return base::Fail(base::Code::kNotFound, fmt::format("RuntimeError: nothing at {}", uri));
  }
  return out.Write(fmt::format("{} files of {} in {}\n", count, uri, settings.code_dir));
}

base::Status FetchFromWeb(const EntrySettings& settings, const Context& context, cli::Output& out) {
  const std::string path = settings.uri.substr(0, settings.uri.find_first_of("?#"));
  const size_t root = path.find('/', path.find("://") + 3);
  const std::string name = root == std::string::npos ? "" : path.substr(path.rfind('/') + 1);
  const std::string shown = net::ShownUrl(settings.uri);
  if (!IsSafeName(name)) {
    return base::Fail(base::Code::kInvalidArgument,
                      fmt::format("RuntimeError: {} names no file", shown));
  }
  TRY_ASSIGN(const std::string content,
             context.fetch_url(settings.uri, kMaxCodeBytes, kCodeTimeout));
  TRY(base::MakeDirs(settings.code_dir, 0755));
  TRY(base::WriteFileAtomic(settings.code_dir + "/" + name, content, 0644,
                            base::Durability::kNone));
  return out.Write(fmt::format("{} in {}\n", shown, settings.code_dir));
}

}  // namespace

base::Result<std::unique_ptr<ObjectStorage>> OpenStorage(const std::string& uri,
                                                         OciServices* services) {
  if (!IsOciUri(uri)) return OpenFolder(uri);
  if (services != nullptr) return services->OpenStorage(uri);
  return base::Fail(base::Code::kUnavailable,
                    fmt::format("RuntimeError: {}: object storage is out of reach here", uri));
}

base::Status FetchCode(const EntrySettings& settings, const Context& context, OciServices* services,
                       cli::Output& out) {
  if (settings.runtime_type.empty()) return {};
  if (settings.runtime_type != "git" && settings.runtime_type != "remote") {
    return base::Fail(
        base::Code::kInvalidArgument,
        fmt::format("ValueError: Runtime type {} is not supported.", settings.runtime_type));
  }
  if (settings.uri.empty()) {
    return base::Fail(base::Code::kInvalidArgument,
                      "ValueError: OCI__RUNTIME_URI is not set: where the code is");
  }
  if (settings.runtime_type == "git") return FetchFromGit(settings, context, services, out);
  if (net::IsWebUrl(settings.uri) && context.fetch_url) return FetchFromWeb(settings, context, out);
  return FetchFromStorage(settings, services, out);
}

}  // namespace ads
