#include "arena/jobs/tensorboard.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "api/job/failure_cause.h"
#include "api/object.h"
#include "api/pod.h"
#include "arena/app/complete_names.h"
#include "arena/jobs/job_output.h"
#include "arena/jobs/owned_names.h"
#include "arena/verbs.h"
#include "base/log.h"
#include "base/machine/host_name.h"
#include "base/strings.h"

namespace arena {
namespace {

using base::Code;
using base::Fail;

constexpr int kSshPort = 22;

// The last output of a program that has ended.
std::string LastLine(std::string_view text) {
  std::string last;
  for (const std::string& line : base::Split(text, '\n')) {
    if (!base::Trim(line).empty()) last = line;
  }
  return api::OneLine(last);
}

std::string DescribeEnd(const api::Terminated& end) {
  const std::string words = LastLine(end.message);
  return fmt::format("it ended with exit code {}{}{}", end.exit_code, words.empty() ? "" : ": ",
                     words);
}

std::string ProblemOfContainer(const api::ContainerStatus& status) {
  if (!status.is_waiting) return "";
  if (status.waiting_reason == "CrashLoopBackOff" && status.last_terminated) {
    return DescribeEnd(*status.last_terminated) + "; it is started again in a while";
  }
  if (status.waiting_reason == "ContainerCreating" || status.waiting_reason == "PodInitializing") {
    return "";
  }
  return api::OneLine(status.waiting_message.empty() ? status.waiting_reason
                                                     : status.waiting_message);
}

std::string ProblemOfPod(const text::Json& pod) {
  if (api::Phase(pod) == "Failed") {
    const std::string_view message = text::GetString(pod, {"status", "message"});
    return api::OneLine(message.empty() ? text::GetString(pod, {"status", "reason"}) : message);
  }
  for (const api::ContainerStatus& status : api::ContainerStatuses(pod)) {
    if (std::string problem = ProblemOfContainer(status); !problem.empty()) return problem;
  }
  const text::Json* scheduled = api::FindCondition(pod, "PodScheduled");
  if (scheduled != nullptr && text::GetString(*scheduled, {"status"}) == "False") {
    return api::OneLine(text::GetString(*scheduled, {"message"}));
  }
  return "";
}

// "10.0.0.10" and 31234 of http://10.0.0.10:31234.
struct BoardAddress {
  std::string host;
  int port = 0;
};
BoardAddress ParseUrl(std::string_view url) {
  url.remove_prefix(std::min(url.find("//") + 2, url.size()));
  const size_t colon = url.rfind(':');
  BoardAddress address{std::string(url.substr(0, colon)), kTensorboardPort};
  if (colon == std::string_view::npos) return address;
  address.port = static_cast<int>(base::ParseInt(url.substr(colon + 1)).value_or(kTensorboardPort));
  return address;
}

// The command that forwards a port of this machine's loopback to the user's machine: with the
// address to which the user connected, if by ssh.
std::string SshCommand(const base::Environment& environment, int port) {
  std::string host = base::HostName();
  int64_t ssh_port = kSshPort;
  // "client-address client-port server-address server-port" (sshd(8))
  const std::vector<std::string> connection =
      base::Split(environment.GetOr("SSH_CONNECTION", ""), ' ');
  if (connection.size() == 4) {
    host = connection[2];
    ssh_port = base::ParseInt(connection[3]).value_or(kSshPort);
  }
  const std::string user = environment.GetOr("USER", environment.GetOr("LOGNAME", ""));
  return fmt::format("ssh -L {0}:127.0.0.1:{0} {1}{2}{3}", port,
                     ssh_port == kSshPort ? "" : fmt::format("-p {} ", ssh_port),
                     user.empty() ? "" : user + "@", host);
}

// How the page is reached from another machine: the command, and the address after it.
struct Forward {
  std::string command;
  std::string url;
};
Forward ForwardFrom(const Context& context, const TrainingJob& job, const BoardAddress& address) {
  if (context.cluster_is_this_machine) {
    return {SshCommand(context.environment, address.port),
            fmt::format("http://127.0.0.1:{}", address.port)};
  }
  return {fmt::format("kubectl -n {} port-forward service/{} {}", job.summary.namespace_name,
                      TensorboardName(job.summary.name), kTensorboardPort),
          fmt::format("http://127.0.0.1:{}", kTensorboardPort)};
}

base::Result<int> Run(Context& context, const std::string& output, cli::Invocation& call) {
  TRY_ASSIGN(cluster::Client * client, context.connect(context));
  TRY_ASSIGN(const TrainingJob job,
             FindJob(*client, context, context.Namespace(), call.args.front()));
  const std::optional<std::string> url = TensorboardUrl(*client, job);
  if (!url) {
    return Fail(Code::kNotFound,
                fmt::format("the training job {} has no tensorboard: it was not submitted with "
                            "--tensorboard, or its service has no address yet",
                            job.summary.name));
  }
  const TensorboardState state = FindTensorboardState(*client, job);
  const BoardAddress address = ParseUrl(*url);
  const Forward forward = ForwardFrom(context, job, address);
  if (output == "json") {
    const text::Json json = text::Object{{"name", job.summary.name},
                                         {"namespace", job.summary.namespace_name},
                                         {"url", *url},
                                         {"port", address.port},
                                         {"running", state.is_running},
                                         {"message", state.problem},
                                         {"forward", forward.command},
                                         {"forwardedUrl", forward.url}};
    TRY(call.out.Write(RenderJson(json) + "\n"));
  } else {
    TRY(
        call.out.Write(fmt::format("Your tensorboard will be available on:\n{}\n\n"
                                   "From another machine, forward its port and open {}:\n{}\n",
                                   *url, forward.url, forward.command)));
  }
  if (state.problem.empty()) return 0;
  return Fail(Code::kUnavailable, fmt::format("the tensorboard of {} does not run: {}",
                                              job.summary.name, state.problem));
}

}  // namespace

TensorboardState StateOfTensorboard(const std::vector<text::Json>& pods) {
  TensorboardState state;
  for (const text::Json& pod : pods) {
    if (api::IsDeleting(pod)) continue;
    if (api::IsPodReady(pod)) return {true, ""};
    if (state.problem.empty()) state.problem = ProblemOfPod(pod);
  }
  return state;
}

TensorboardState FindTensorboardState(cluster::Client& client, const TrainingJob& job) {
  cluster::ListOptions options;
  options.namespace_name = job.summary.namespace_name;
  options.label_selector = fmt::format("release={},role=tensorboard", job.summary.name);
  const auto pods = client.List(api::kPods, options);
  return pods ? StateOfTensorboard(pods->items) : TensorboardState();
}

void AddTensorboard(cli::Command& root, Context& context) {
  cli::Command& verb = root.Add("tensorboard JOB", "Show the address of a job's TensorBoard")
                           .Args(cli::MaxArgs(1))
                           .Help("arena/jobs/tensorboard", context.program);
  auto output = std::make_shared<std::string>();
  verb.flags().String(output.get(), "output", "", "json").Short('o').Choices({"json"});
  verb.Check([output](cli::Invocation& call) -> base::Status {
    TRY(NeedJobName(call));
    if (output->empty() || *output == "json") return {};
    return Fail(Code::kInvalidArgument, "unknown output format,only support:[json]");
  });
  CompleteOneJob(verb, context);
  verb.Run([output, &context](cli::Invocation& call) { return Run(context, *output, call); });
}

}  // namespace arena
