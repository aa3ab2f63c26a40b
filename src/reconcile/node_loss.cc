#include "reconcile/node_loss.h"

#include <algorithm>

#include "api/object.h"
#include "api/pod.h"
#include "base/strings.h"

namespace reconcile {
namespace {

constexpr int64_t kLongestPatience = 1'000'000'000;
// Set by the node lifecycle controller on a pod that is being deleted from an unreachable node.
constexpr std::string_view kNodeLost = "NodeLost";

}  // namespace

std::optional<base::Duration> NodePatience(const text::Json& job) {
  const auto seconds = base::ParseInt(api::Annotation(job, kNodeLostAnnotation));
  if (!seconds || *seconds < 0) return std::nullopt;
  return std::chrono::seconds(std::min(*seconds, kLongestPatience));
}

std::optional<base::Time> LossOf(const text::Json& pod, base::Duration patience,
                                 const std::map<std::string, base::Time>& lost_nodes) {
  if (api::IsPodFinished(pod) || api::NodeName(pod).empty()) return std::nullopt;
  const auto node = lost_nodes.find(std::string(api::NodeName(pod)));
  if (node != lost_nodes.end()) return node->second + patience;
  if (!api::IsDeleting(pod) || text::GetString(pod, {"status", "reason"}) != kNodeLost) {
    return std::nullopt;
  }
  // The node has been gone for longer than any job allows.
  return api::GetTime(pod, {"metadata", "deletionTimestamp"});
}

}  // namespace reconcile
