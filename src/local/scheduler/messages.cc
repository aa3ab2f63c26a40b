#include "local/scheduler/messages.h"

#include <fmt/format.h>

namespace local::scheduler {

namespace {

constexpr size_t kMaxNamedHolders = 3;

// Places beyond this are not distinguished: otherwise each job that ends would change every
// message.
constexpr int kMaxPlace = 10;

std::string NameTurn(const Turn& turn) {
  if (turn.place > kMaxPlace)
    return fmt::format("; {} or more jobs are ahead of it in the queue", kMaxPlace);
  if (turn.place > 1) return fmt::format("; it is number {} in the queue", turn.place);
  const std::string start = turn.sure_start ? fmt::format(" and will start by {} at the latest",
                                                          base::FormatRfc3339(*turn.sure_start))
                                            : "";
  return "; it is first in the queue" + start;
}

std::string NameHolders(const std::vector<Holder>& holders) {
  std::string text;
  for (size_t i = 0; i < holders.size() && i < kMaxNamedHolders; ++i) {
    if (i > 0)
      text += holders.size() <= kMaxNamedHolders && i + 1 == holders.size() ? " and " : ", ";
    text += holders[i].name;
    if (holders[i].ends_by) {
      text += fmt::format(" (until {} at the latest)", base::FormatRfc3339(*holders[i].ends_by));
    }
  }
  if (holders.size() > kMaxNamedHolders) {
    text += fmt::format(" and {} more", holders.size() - kMaxNamedHolders);
  }
  return text;
}

std::string Insufficient(int64_t need, const Node& node) {
  return fmt::format("0/1 nodes are available: 1 Insufficient {}: the job asks for {}",
                     node.gpu_resource, need);
}

std::string MachineHas(const Node& node) {
  if (!node.gpus.empty()) return fmt::format("this machine has {}", node.gpus.size());
  if (node.no_gpu_reason.empty()) return "this machine has none";
  return fmt::format("this machine has none ({})", node.no_gpu_reason);
}

}  // namespace

std::string NeverFits(int64_t need, const Node& node) {
  return fmt::format("{}, {}", Insufficient(need, node), MachineHas(node));
}

std::string Cordoned(const Node& node) {
  return fmt::format(
      "0/1 nodes are available: 1 node(s) were unschedulable: {0} is cordoned (kubectl uncordon "
      "{0})",
      node.name);
}

std::string InUse(int64_t need, int64_t in_use, const Node& node,
                  const std::vector<Holder>& holders, const Turn& turn) {
  return fmt::format("{}, {} of {} {} in use by {}{}", Insufficient(need, node), in_use,
                     node.gpus.size(), in_use == 1 ? "is" : "are", NameHolders(holders),
                     NameTurn(turn));
}

std::string KeptFor(int64_t need, int64_t free, const Node& node, std::string_view head,
                    const Turn& turn) {
  return fmt::format("{}, {} of {} {} free but reserved for {}, the first in the queue{}",
                     Insufficient(need, node), free, node.gpus.size(), free == 1 ? "is" : "are",
                     head, NameTurn(turn));
}

std::string WishIgnored(int64_t wish, const Node& node, GpuPolicy policy) {
  return fmt::format("the job asks for {} {}, {}: it runs on the CPU (local.gpus: {})", wish,
                     node.gpu_resource, MachineHas(node),
                     policy == GpuPolicy::kAuto ? "auto" : "optional");
}

std::string WhyWithoutGpus(int64_t wish, const Node& node, GpuPolicy policy) {
  if (wish <= static_cast<int64_t>(node.gpus.size())) return "";
  const bool is_ignored =
      policy == GpuPolicy::kOptional || (policy == GpuPolicy::kAuto && node.gpus.empty());
  return is_ignored ? WishIgnored(wish, node, policy) : NeverFits(wish, node);
}

}  // namespace local::scheduler
