#include "local/command/listen_commands.h"

#include <fmt/format.h>

#include "local/daemon/listener.h"
#include "net/http_client.h"
#include "text/json.h"

namespace local::command {
namespace {

constexpr std::chrono::seconds kPatience{30};

}  // namespace

void AddListenFlag(cli::FlagSet& flags, std::string* to) {
  flags
      .Custom("listen", "",
              "serve kubectl and SDKs on a port of this machine, 127.0.0.1:PORT or off; stays so "
              "until it is off (default port: the last one, else a free one)",
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

base::Status Listen(const daemon::Paths& paths, const std::string& address, cli::Output& out) {
  net::HttpRequest request;
  request.method = "POST";
  request.target = std::string(daemon::kListenPath);
  request.headers = {{"Host", "localhost"}, {"Content-Type", "application/json"}};
  request.body = text::ToJson(text::Object{{"address", address}});
  TRY_ASSIGN(const net::HttpResponse response,
             net::HttpClient::Unix(paths.socket, kPatience)->Send(request));
  const auto body = text::ParseJson(response.body);
  if (response.status != 200 || !body) {
    const std::string_view why = body ? text::GetString(*body, {"message"}) : "";
    return base::Fail(
        base::Code::kUnavailable,
        why.empty() ? fmt::format("the daemon answered {}", response.status) : std::string(why));
  }
  const std::string_view listening = text::GetString(*body, {"address"});
  if (listening.empty()) return out.Write("It listens on no port any more.\n");
  return out.Write(
      fmt::format("It listens on https://{}. For kubectl and SDKs:\n"
                  "  muster kubeconfig > ~/.kube/muster && export KUBECONFIG=~/.kube/muster\n",
                  listening));
}

void AddKubeconfigCommand(cli::Command& root, const ClusterContext& context) {
  root.Add("kubeconfig", "Print a kubeconfig for the embedded cluster")
      .Long(
          "Prints a kubeconfig with which kubectl, SDKs and other clients reach the embedded\n"
          "cluster of this machine, after `muster up --listen`. It holds a token: whoever has it\n"
          "can do everything that you can do with muster.")
      .Example(
          "  muster up --listen\n  muster kubeconfig > ~/.kube/muster\n  kubectl --kubeconfig "
          "~/.kube/muster get pytorchjobs")
      .Args(cli::NoArgs())
      .Run([context](cli::Invocation& call) -> base::Result<int> {
        TRY_ASSIGN(const std::string text,
                   daemon::Kubeconfig(daemon::PathsOf(context.environment).state));
        TRY(call.out.Write(text));
        return 0;
      });
}

}  // namespace local::command
