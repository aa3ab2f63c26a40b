#include <fmt/format.h>

#include <memory>

#include "api/pod.h"
#include "arena/app/complete_names.h"
#include "arena/jobs/jobs.h"
#include "arena/streams/exec_place.h"
#include "arena/streams/port_relay.h"
#include "arena/verbs.h"

namespace arena {
namespace {

using base::Code;
using base::Fail;

struct PortForwardFlags {
  std::string instance;
  std::vector<std::string> addresses;
};

// The job's instance, or the pod of that name.
base::Result<text::Json> FindPodOf(cluster::Client& client, const Context& context,
                                   const std::string& name, const std::string& instance) {
  auto job = FindJob(client, context, context.Namespace(), name);
  if (!job) {
    if (job.error().code != Code::kNotFound || !instance.empty()) return Fail(job.error());
    auto pod = client.Get(api::kPods, context.Namespace(), name);
    if (pod || pod.error().code != Code::kNotFound) return pod;
    return Fail(job.error());
  }
  if (job->pods.empty()) {
    return Fail(Code::kNotFound, fmt::format("the training job {} has no instances", name));
  }
  TRY_ASSIGN(const text::Json* const pod, ChooseInstance(context, *job, instance));
  return *pod;
}

base::Status RunPortForward(Context& context, const PortForwardFlags& flags,
                            cli::Invocation& call) {
  std::vector<PortPair> pairs;
  for (size_t i = 1; i < call.args.size(); ++i) {
    TRY_ASSIGN(const PortPair pair, ParsePortPair(call.args[i]));
    pairs.push_back(pair);
  }
  TRY_ASSIGN(cluster::Client * client, context.connect(context));
  TRY_ASSIGN(const text::Json pod, FindPodOf(*client, context, call.args[0], flags.instance));
  const std::string namespace_name(api::Namespace(pod));
  const std::string name(api::Name(pod));
  if (api::Phase(pod) != "Running") {
    return Fail(Code::kInvalidArgument,
                fmt::format("instance {} is not running: its phase is {}", name, api::Phase(pod)));
  }
  std::vector<std::string> addresses = flags.addresses;
  if (addresses.empty()) addresses = {"localhost"};
  TRY_ASSIGN(const auto listeners, ListenForPorts(addresses, pairs));
  for (const PortListener& listener : listeners) {
    TRY(call.out.Write(
        fmt::format("Forwarding from {} -> {}\n", listener.address, listener.remote)));
  }
  PortReports reports;
  reports.opened = [&](uint16_t remote) {
    (void)call.out.Write(fmt::format("Handling connection for {}\n", remote));
  };
  reports.failed = [&](uint16_t remote, const base::Error& why) {
    (void)call.err.Write(fmt::format("error: port {} of {}: {}\n", remote, name, why.message));
  };
  const auto dial = [&](uint16_t remote) { return client->OpenPort(namespace_name, name, remote); };
  return Fail(RelayPorts(listeners, dial, reports).Wrap(fmt::format("lost {}", name)));
}

}  // namespace

void AddPortForward(cli::Command& root, Context& context) {
  cli::Command& verb = root.Add("port-forward JOB|INSTANCE [LOCAL:]REMOTE...",
                                "Forward ports of this machine to an instance");
  verb.Help("arena/streams/port_forward", context.program);
  auto flags = std::make_shared<PortForwardFlags>();
  cli::FlagSet& set = verb.flags();
  AddInstanceFlag(set, &flags->instance, context);
  set.StringArray(&flags->addresses, "address",
                  "where to listen, by default localhost: IP addresses of this machine");
  verb.Check([](cli::Invocation& call) -> base::Status {
    TRY(NeedJobName(call));
    if (call.args.size() < 2) {
      return Fail(Code::kInvalidArgument,
                  "at least one port is needed: port-forward JOB [LOCAL:]REMOTE");
    }
    for (size_t i = 1; i < call.args.size(); ++i) TRY(ParsePortPair(call.args[i]));
    return {};
  });
  CompleteOneJob(verb, context);
  verb.Run([flags, &context](cli::Invocation& call) -> base::Result<int> {
    TRY(RunPortForward(context, *flags, call));
    return 0;
  });
}

}  // namespace arena
