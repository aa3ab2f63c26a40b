#include "arena/objects/rollout.h"

#include <fmt/format.h>

#include <condition_variable>
#include <optional>

#include "api/object.h"
#include "base/guarded.h"
#include "cluster/reflector.h"

namespace arena {
namespace {

struct Seen {
  bool is_known = false;  // the first list has arrived
  std::optional<text::Json> object;
  std::optional<base::Error> refusal;
};

}  // namespace

base::Status AwaitObject(cluster::Client& client, const api::Resource& resource,
                         const std::string& namespace_name, const std::string& name,
                         std::chrono::milliseconds timeout, const WhatIsMissing& missing) {
  base::Guarded<Seen> seen;
  std::condition_variable changed;
  cluster::ListOptions one;
  one.namespace_name = namespace_name;
  one.field_selector = "metadata.name=" + name;
  const cluster::Reflector reflector(
      client, resource, one,
      {[&](std::vector<text::Json> items) {
         auto now = seen.Lock();
         now->is_known = true;
         now->object.reset();
         if (!items.empty()) now->object = std::move(items.front());
         changed.notify_all();
       },
       [&](cluster::WatchEvent event) {
         auto now = seen.Lock();
         const bool is_gone = event.type == cluster::WatchEvent::Type::kDeleted;
         now->object = is_gone ? std::nullopt : std::optional(std::move(event.object));
         changed.notify_all();
       },
       [&](const base::Error& error) {
         seen.Lock()->refusal = error;
         changed.notify_all();
       }});
  auto now = seen.Lock();
  std::string why = "the server has not answered";
  const bool is_over = changed.wait_for(now.lock(), timeout, [&] {
    if (now->is_known) why = now->object ? missing(*now->object) : "it does not exist";
    return now->refusal || why.empty();
  });
  if (now->refusal) return base::Fail(*now->refusal);
  if (is_over) return {};
  return base::Fail(base::Code::kTimeout, std::move(why));
}

std::string MissingOfRollout(const text::Json& deployment) {
  const auto count = [&](std::string_view field) {
    return text::GetInt(deployment, {"status", field}).value_or(0);
  };
  const int64_t wanted = text::GetInt(deployment, {"spec", "replicas"}).value_or(1);
  if (count("observedGeneration") <
      text::GetInt(deployment, {"metadata", "generation"}).value_or(0)) {
    return "the cluster has not noticed the change yet";
  }
  if (count("updatedReplicas") < wanted) {
    return fmt::format("{} of {} pods are created", count("updatedReplicas"), wanted);
  }
  if (count("replicas") > count("updatedReplicas")) {
    return fmt::format("{} old pods are still there", count("replicas") - count("updatedReplicas"));
  }
  if (count("availableReplicas") < wanted) {
    return fmt::format("{} of {} pods are ready", count("availableReplicas"), wanted);
  }
  return "";
}

std::string MissingCondition(const text::Json& object, std::string_view type) {
  const text::Json* const condition = api::FindCondition(object, type);
  if (condition == nullptr) return fmt::format("not {} yet", type);
  if (text::GetString(*condition, {"status"}) == "True") return "";
  return fmt::format("not {}: {}", type, text::GetString(*condition, {"message"}));
}

std::string WhyPodsWait(const std::vector<text::Json>& pods) {
  for (const text::Json& pod : pods) {
    for (const text::Json& container : text::Items(pod, {"status", "containerStatuses"})) {
      for (const std::string_view state : {"waiting", "terminated"}) {
        const std::string_view reason = text::GetString(container, {"state", state, "reason"});
        if (reason.empty() || reason == "ContainerCreating") continue;
        const std::string_view message = text::GetString(container, {"state", state, "message"});
        return fmt::format("pod {}: {}{}{}", api::Name(pod), reason, message.empty() ? "" : ": ",
                           message);
      }
    }
    const text::Json* const scheduled = api::FindCondition(pod, "PodScheduled");
    if (scheduled != nullptr && text::GetString(*scheduled, {"status"}) == "False") {
      return fmt::format("pod {}: {}", api::Name(pod), text::GetString(*scheduled, {"message"}));
    }
  }
  return "";
}

}  // namespace arena
