#include <algorithm>
#include <memory>

#include "api/object.h"
#include "arena/node_output.h"
#include "arena/verbs.h"

namespace arena {
namespace {

struct TopNodeFlags {
  std::string output, gpu_mode;
  bool details = false;
};

// -m: which nodes to show.
enum class Mode { kAll, kNone, kExclusive, kNoneOfOurs };

base::Result<Mode> ParseMode(std::string_view text) {
  if (text.empty()) return Mode::kAll;
  if (text == "n" || text == "none") return Mode::kNone;
  if (text == "e" || text == "exclusive" || text == "GPUExclusive") return Mode::kExclusive;
  for (const std::string_view other : {"t", "topology", "GPUTopology", "s", "share", "GPUShare"}) {
    if (text == other) return Mode::kNoneOfOurs;
  }
  return base::Fail(base::Code::kInvalidArgument,
                    "unknown node type,only supports:[n(none)|e(exclusive)|t(topology)|s(share)]");
}

void KeepChosen(std::vector<NodeUse>& nodes, Mode mode, const std::vector<std::string>& names) {
  std::erase_if(nodes, [&](const NodeUse& node) {
    if (!names.empty() && std::find(names.begin(), names.end(), node.name) == names.end())
      return true;
    switch (mode) {
      case Mode::kAll:
        return false;
      case Mode::kNone:
        return node.HasGpus();
      case Mode::kExclusive:
        return !node.HasGpus();
      case Mode::kNoneOfOurs:
        return true;
    }
    return false;
  });
}

base::Result<int> RunTopNode(Context& context, const TopNodeFlags& flags, cli::Invocation& call) {
  TRY_ASSIGN(const Format format, ParseFormat(flags.output));
  TRY_ASSIGN(const Mode mode, ParseMode(flags.gpu_mode));
  TRY_ASSIGN(cluster::Client * client, context.connect(context));
  TRY_ASSIGN(const cluster::ObjectList nodes, client->List(api::kNodes, {}));
  cluster::ListOptions unfinished;
  unfinished.field_selector = "status.phase!=Succeeded,status.phase!=Failed";
  TRY_ASSIGN(const cluster::ObjectList pods, client->List(api::kPods, unfinished));
  std::vector<NodeUse> uses = CountNodes(nodes.items, pods.items);
  KeepChosen(uses, mode, call.args);
  if (uses.empty()) {
    return base::Fail(base::Code::kNotFound,
                      "failed to display nodes's informations: not found nodes");
  }
  if (format == Format::kJson || format == Format::kYaml) {
    const text::Json json = NodesToJson(uses);
    TRY(call.out.Write(format == Format::kJson ? RenderJson(json) : RenderYaml(json)));
  } else {
    TRY(call.out.Write(flags.details ? RenderNodeDetails(uses) : RenderNodes(uses, format)));
  }
  return 0;
}

}  // namespace

void AddTopNode(cli::Command& top, Context& context) {
  cli::Command& verb = top.Add("node [NODE...]", "Show the GPUs of the nodes").Aliases({"nodes"});
  auto flags = std::make_shared<TopNodeFlags>();
  cli::FlagSet& set = verb.flags();
  set.Bool(&flags->details, "details", false, "show what is on each node").Short('d');
  set.String(&flags->gpu_mode, "gpu-mode", "",
             "only nodes whose GPUs are none, exclusive, topology or share")
      .Short('m')
      .Choices({"none", "exclusive", "topology", "share"});
  set.String(&flags->output, "output", "", "wide, json or yaml")
      .Short('o')
      .Choices({"json", "yaml", "wide"});
  verb.Check([flags](cli::Invocation&) -> base::Status {
    TRY(ParseFormat(flags->output));
    TRY(ParseMode(flags->gpu_mode));
    return {};
  });
  verb.Run([flags, &context](cli::Invocation& call) { return RunTopNode(context, *flags, call); });
}

}  // namespace arena
