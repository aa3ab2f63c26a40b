#include "local/command/listen_commands.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <memory>

#include "base/file.h"
#include "base/log.h"
#include "base/strings.h"
#include "local/client/connect.h"
#include "local/daemon/listener.h"
#include "text/json.h"
#include "text/yaml.h"

namespace local::command {
namespace {

// A shell's redirection created it, with the shell's umask.
void WarnOfOpenFile(int fd) {
  struct stat info{};
  if (::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) || (info.st_mode & 077) == 0) return;
  base::LogWarn(
      "others can read the file (mode {:o}), and anybody who has the token in it can do everything "
      "you "
      "can do: `muster kubeconfig -o FILE` writes a private file",
      info.st_mode & 0777);
}

// Replaces the file in one step. Never overwrites the kubeconfig of another cluster.
base::Status WriteKubeconfig(const std::string& path, const std::string& text) {
  const auto standing = base::ReadFile(path);
  if (standing && !base::Trim(*standing).empty()) {
    const auto yaml = text::ParseYaml(*standing);
    if (!yaml || text::GetString(*yaml, {"current-context"}) != "muster") {
      return base::Fail(
          base::Code::kAlreadyExists,
          fmt::format("{} exists and was not written by muster: choose another file", path));
    }
  }
  if (const std::string folder = base::DirectoryOf(path); !folder.empty()) {
    TRY(base::MakeDirs(folder, 0700));
  }
  return base::WriteFileAtomic(path, text, 0600, base::Durability::kSync);
}

}  // namespace

void AddListenFlag(cli::FlagSet& flags, std::string* to) {
  flags
      .Custom(
          "listen", "",
          "serve kubectl and SDKs on a port of this machine, 127.0.0.1:PORT or off; remains set "
          "until it is turned off (default port: the last one, otherwise a free one)",
          [to](std::string_view value) -> base::Status {
            if (value == "off") {
              *to = value;
              return {};
            }
            const std::string_view wanted = value == "true" ? "127.0.0.1" : value;
            TRY(daemon::ParseListenAddress(wanted));
            *to = wanted;
            return {};
          })
      .Choices({"127.0.0.1:", "off"});
}

base::Status Listen(cluster::Transport& daemon, const std::string& address, cli::Output& out) {
  net::HttpRequest request;
  request.method = "POST";
  request.target = std::string(daemon::kListenPath);
  request.headers = {{"Host", "localhost"}, {"Content-Type", "application/json"}};
  request.body = text::ToJson(text::Object{{"address", address}});
  TRY_ASSIGN(const net::HttpResponse response, daemon.Send(request));
  const auto body = text::ParseJson(response.body);
  if (response.status != 200 || !body) {
    const std::string_view why = body ? text::GetString(*body, {"message"}) : "";
    return base::Fail(
        base::Code::kUnavailable,
        why.empty() ? fmt::format("the daemon answered {}", response.status) : std::string(why));
  }
  const std::string_view listening = text::GetString(*body, {"address"});
  if (listening.empty()) return out.Write("It no longer listens on a port.\n");
  return out.Write(
      fmt::format("It listens on https://{}. For kubectl and SDKs:\n"
                  "  muster kubeconfig -o ~/.kube/muster && export KUBECONFIG=~/.kube/muster\n",
                  listening));
}

void AddKubeconfigCommand(cli::Command& root, const ClusterContext& context) {
  cli::Command& verb = root.Add("kubeconfig", "Print a kubeconfig for the embedded cluster");
  verb.Help("local/command/kubeconfig", "muster").Args(cli::NoArgs());
  auto file = std::make_shared<std::string>();
  verb.flags()
      .String(file.get(), "output", "", "write it to `FILE`, which only you can read (mode 0600)")
      .Short('o');
  verb.Run([context, file](cli::Invocation& call) -> base::Result<int> {
    TRY_ASSIGN(const std::string text,
               daemon::Kubeconfig(daemon::PathsOf(context.environment).state));
    if (file->empty()) {
      WarnOfOpenFile(STDOUT_FILENO);
      TRY(call.out.Write(text));
    } else {
      TRY(WriteKubeconfig(*file, text));
    }
    return 0;
  });
}

}  // namespace local::command
