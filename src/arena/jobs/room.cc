#include "arena/jobs/room.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "api/kinds.h"
#include "api/names.h"
#include "api/object.h"
#include "api/pod.h"
#include "api/resources.h"
#include "base/quantity.h"
#include "base/strings.h"
#include "net/http/types.h"

namespace arena {
namespace {

constexpr size_t kMostNodes = 8;    // in words; all are in the document
constexpr size_t kMostHolders = 3;  // of a node, in words

int64_t CountAt(const text::Json& object, std::string_view group, std::string_view resource) {
  return base::ParseQuantity(text::GetString(object, {"status", group, resource})).value_or(0);
}

bool TakesPods(const text::Json& node) {
  const bool is_said = api::FindCondition(node, "Ready") != nullptr;
  return !api::IsNodeUnschedulable(node) && (!is_said || api::IsNodeReady(node));
}

// "default/bert" of a job's pod, else the pod's own name.
std::string HolderOf(const text::Json& pod) {
  const std::string_view job = api::Label(pod, api::kJobNameLabel);
  return fmt::format("{}/{}", api::Namespace(pod), job.empty() ? api::Name(pod) : job);
}

struct NodeRoom {
  int64_t gpus = 0, free = 0;
  std::map<std::string, int64_t> holders;
};

std::string SayHolders(const text::Json& node) {
  const text::Array& holders = text::Items(node, {"holders"});
  std::vector<std::string> names;
  for (size_t i = 0; i < std::min(kMostHolders, holders.size()); ++i) {
    names.push_back(fmt::format("{} ({})", text::GetString(holders[i], {"name"}),
                                text::GetInt(holders[i], {"gpus"}).value_or(0)));
  }
  if (holders.size() > kMostHolders) {
    names.push_back(fmt::format("{} more", holders.size() - kMostHolders));
  }
  return names.empty() ? "" : "; held by " + base::Join(names, ", ");
}

std::string Gpus(int64_t count) { return fmt::format("{} GPU{}", count, count == 1 ? "" : "s"); }

// Empty for a user who may not list them.
text::Array ItemsOr(const base::Result<text::Json>& list) {
  return list ? text::Items(*list, {"items"}) : text::Array();
}

}  // namespace

text::Json JudgeRoom(const WouldBe& job, const std::vector<text::Json>& nodes,
                     const std::vector<text::Json>& pods, const text::Array& quotas,
                     bool sees_all) {
  std::map<std::string, NodeRoom, std::less<>> rooms;
  for (const text::Json& node : nodes) {
    const int64_t gpus = CountAt(node, "allocatable", api::kGpuResource);
    if (gpus > 0 && TakesPods(node)) rooms[std::string(api::Name(node))] = {gpus, gpus, {}};
  }
  for (const text::Json& pod : pods) {
    const auto room = rooms.find(api::NodeName(pod));
    const int64_t gpus = api::PodRequest(pod).gpus;
    if (room == rooms.end() || api::IsPodFinished(pod) || gpus == 0) continue;
    room->second.free -= gpus;
    room->second.holders[HolderOf(pod)] += gpus;
  }
  int64_t fit = 0;
  int64_t could_fit = 0;
  text::Array listed;
  for (const auto& [name, room] : rooms) {
    fit += std::max<int64_t>(0, room.free) / job.gpus;
    could_fit += room.gpus / job.gpus;
    text::Array holders;
    for (const auto& [holder, gpus] : room.holders) {
      holders.push_back(text::Object{{"name", holder}, {"gpus", gpus}});
    }
    listed.push_back(text::Object{{"name", name},
                                  {"gpus", room.gpus},
                                  {"free", std::max<int64_t>(0, room.free)},
                                  {"holders", std::move(holders)}});
  }
  text::Json quota(nullptr);
  for (const text::Json& each : quotas) {
    for (const std::string_view prefix : {"requests.", "limits."}) {
      const std::string resource = fmt::format("{}{}", prefix, api::kGpuResource);
      if (text::Find(each, {"status", "hard", resource}) == nullptr) continue;
      const int64_t hard = CountAt(each, "hard", resource);
      const int64_t left = std::max<int64_t>(0, hard - CountAt(each, "used", resource));
      if (left >= job.gpus * job.nodes) continue;
      quota = text::Object{{"name", api::Name(each)}, {"gpus", hard}, {"free", left}};
    }
  }
  const bool fits = fit >= job.nodes && quota.is_null();
  return text::Object{{"kind", fits                    ? "now"
                               : could_fit < job.nodes ? "never"
                                                       : "unknown"},
                      {"gpusPerReplica", job.gpus},
                      {"replicas", job.nodes},
                      {"nodes", std::move(listed)},
                      {"seesAllPods", sees_all},
                      {"quota", std::move(quota)}};
}

std::string RenderRoom(const text::Json& room) {
  const std::string_view kind = text::GetString(room, {"kind"});
  const int64_t gpus = text::GetInt(room, {"gpusPerReplica"}).value_or(0);
  const int64_t replicas = text::GetInt(room, {"replicas"}).value_or(1);
  const std::string needs = replicas == 1
                                ? fmt::format("a node with {} free", Gpus(gpus))
                                : fmt::format("{} times {} on one node", replicas, Gpus(gpus));
  const text::Array& nodes = text::Items(room, {"nodes"});
  std::string text = kind == "now" ? fmt::format(
                                         "Its GPUs are free now: it needs {}. Taints, processors, "
                                         "memory and node selectors are not looked at.\n",
                                         needs)
                     : kind == "never"
                         ? fmt::format(
                               "It does not fit on the present nodes, even if they were "
                               "empty: it needs {}.\n",
                               needs)
                         : fmt::format("It does not fit now: it needs {}.\n", needs);
  for (size_t i = 0; i < std::min(kMostNodes, nodes.size()); ++i) {
    text += fmt::format("  {}: {} of {} free{}\n", text::GetString(nodes[i], {"name"}),
                        text::GetInt(nodes[i], {"free"}).value_or(0),
                        Gpus(text::GetInt(nodes[i], {"gpus"}).value_or(0)), SayHolders(nodes[i]));
  }
  if (nodes.size() > kMostNodes) text += fmt::format("  and {} more\n", nodes.size() - kMostNodes);
  if (nodes.empty()) text += "  no node that takes pods has a GPU\n";
  if (const text::Json* const quota = text::Find(room, {"quota"}); quota && !quota->is_null()) {
    text +=
        fmt::format("The namespace's quota {} leaves {} of {}.\n",
                    text::GetString(*quota, {"name"}), text::GetInt(*quota, {"free"}).value_or(0),
                    Gpus(text::GetInt(*quota, {"gpus"}).value_or(0)));
  }
  if (!text::GetBool(room, {"seesAllPods"}).value_or(true)) {
    text += "You may not list the pods of other namespaces: less may be free than this says.\n";
  }
  return text + "When it starts is not known: Kubernetes' schedulers and queues do not say.\n";
}

base::Result<text::Json> AskRoom(cluster::Client& client, const std::string& namespace_name,
                                 const WouldBe& job) {
  if (job.gpus == 0) {
    return base::Fail(base::Code::kNotFound,
                      "on Kubernetes only GPUs are counted, and this job asks for none: `top node` "
                      "shows what the nodes have");
  }
  auto nodes = client.List(api::kNodes, {});
  if (!nodes) {
    return base::Fail(nodes.error().Wrap("what is free on Kubernetes is read from its nodes"));
  }
  cluster::ListOptions options;
  options.field_selector = "status.phase!=Succeeded,status.phase!=Failed";
  auto pods = client.List(api::kPods, options);
  const bool sees_all = pods || pods.error().code != base::Code::kPermissionDenied;
  if (!sees_all) {
    options.namespace_name = namespace_name;
    pods = client.List(api::kPods, options);
  }
  if (!pods) return base::Fail(std::move(pods.error()));
  const auto quotas = client.Ask("GET", fmt::format("/api/v1/namespaces/{}/resourcequotas",
                                                    net::PercentEncode(namespace_name)));
  return JudgeRoom(job, nodes->items, pods->items, ItemsOr(quotas), sees_all);
}

}  // namespace arena
