#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "arena/app/complete_names.h"
#include "arena/listing/repeat_display.h"
#include "arena/nodes/node_output.h"
#include "arena/nodes/node_uses.h"
#include "arena/verbs.h"
#include "base/log.h"

namespace arena {
namespace {

struct TopNodeFlags {
  std::string output, gpu_mode;
  bool details = false, refresh = false, metric = false;
};

// -m by letter, mode or type; nullopt when it was not given.
base::Result<std::optional<NodeKind>> ParseMode(std::string_view text) {
  if (text.empty()) return std::optional<NodeKind>();
  for (const NodeKind kind : kNodeKinds) {
    const std::string_view mode = ModeOf(kind);
    if (text == mode.substr(0, 1) || text == mode || text == TypeOf(kind)) {
      return std::optional(kind);
    }
  }
  return base::Fail(base::Code::kInvalidArgument,
                    "unknown node type,only supports:[n(none)|e(exclusive)|t(topology)|s(share)]");
}

base::Result<std::vector<NodeUse>> FetchNodes(cluster::Client& client, const Context& context,
                                              const TopNodeFlags& flags,
                                              const std::vector<std::string>& names) {
  TRY_ASSIGN(const std::optional<NodeKind> mode, ParseMode(flags.gpu_mode));
  TRY_ASSIGN(std::vector<NodeUse> uses, NodeUsesOf(client, context, flags.metric));
  for (const std::string& name : names) {
    const bool is_there = std::any_of(uses.begin(), uses.end(),
                                      [&](const NodeUse& node) { return node.name == name; });
    if (!is_there && names.size() > 1) base::LogWarn("there is no node {}", name);
  }
  std::erase_if(uses, [&](const NodeUse& node) {
    const bool is_named =
        names.empty() || std::find(names.begin(), names.end(), node.name) != names.end();
    return !is_named || (mode && node.kind != *mode);
  });
  if (uses.empty()) {
    return base::Fail(base::Code::kNotFound,
                      "failed to display nodes's informations: not found nodes");
  }
  return uses;
}

// Arena does not know the roles of nodes that have GPUs, except in its details
// (compat/arena.md 2.8).
void ForgetRoles(std::vector<NodeUse>& nodes) {
  for (NodeUse& node : nodes) {
    if (node.kind != NodeKind::kNormal) node.role = "<none>";
  }
}

base::Result<int> RunTopNode(Context& context, const TopNodeFlags& flags, cli::Invocation& call) {
  TRY_ASSIGN(const Format format, FormatOf(flags.output, call));
  if (IsForMachines(format)) KeepOutputPure(context);
  TRY_ASSIGN(cluster::Client * client, context.connect(context));
  const auto show = [&]() -> base::Status {
    TRY_ASSIGN(std::vector<NodeUse> nodes, FetchNodes(*client, context, flags, call.args));
    const bool has_details = flags.details && !IsForMachines(format);
    if (context.program == "arena" && !has_details) ForgetRoles(nodes);
    if (IsForMachines(format)) {
      const text::Json json = NodesToJson(nodes);
      return call.out.Write(format == Format::kJson ? RenderJson(json) : RenderYaml(json));
    }
    return call.out.Write(flags.details ? RenderNodeDetails(nodes, context.program == "arena")
                                        : RenderNodes(nodes, format, !call.args.empty()));
  };
  TRY(ShowRepeatedly(context, call.out, flags.refresh, "-------------------------",
                     "-------------------------------------", show));
  return 0;
}

base::Status CheckFlags(const TopNodeFlags& flags, const cli::Invocation& call) {
  TRY(FormatOf(flags.output, call));
  TRY(ParseMode(flags.gpu_mode));
  if (!flags.refresh) return {};
  if (!flags.details) {
    return base::Fail(base::Code::kInvalidArgument,
                      "-r needs -d: it shows one node again and again");
  }
  if (call.args.size() != 1) {
    return base::Fail(base::Code::kInvalidArgument,
                      "must specify only one node name when '-r' is enabled");
  }
  return {};
}

}  // namespace

void AddTopNode(cli::Command& top, Context& context) {
  cli::Command& verb = top.Add("node [NODE...]", "Show the GPUs of the nodes")
                           .Aliases({"nodes"})
                           .Help("arena/nodes/top_node", context.program);
  auto flags = std::make_shared<TopNodeFlags>();
  cli::FlagSet& set = verb.flags();
  set.Bool(&flags->details, "details", false, "show what is on each node").Short('d');
  set.Bool(&flags->refresh, "refresh", false, "with -d and one node: refresh every two seconds")
      .Short('r');
  set.Bool(&flags->metric, "metric", false, "show the utilization of the GPUs");
  set.String(&flags->gpu_mode, "gpu-mode", "",
             "only nodes whose GPUs are none, exclusive, topology or share")
      .Short('m')
      .Choices({"none", "exclusive", "topology", "share"});
  set.String(&flags->output, "output", "", "wide, json or yaml")
      .Short('o')
      .Choices({"json", "yaml", "wide"});
  verb.Check([flags](cli::Invocation& call) { return CheckFlags(*flags, call); });
  verb.CompleteArgs(
      [&context](cli::Invocation&, std::string_view) { return CompleteNodeNames(context); });
  verb.Run([flags, &context](cli::Invocation& call) { return RunTopNode(context, *flags, call); });
}

}  // namespace arena
