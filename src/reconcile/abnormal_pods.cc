#include "reconcile/abnormal_pods.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "api/names.h"
#include "api/object.h"
#include "reconcile/outcome.h"
#include "reconcile/writes.h"

namespace reconcile {
namespace {

using MaybeTime = std::optional<base::Time>;

MaybeTime FinishedAt(const Pod& pod) {
  MaybeTime newest;
  for (const text::Json& status : text::Items(*pod.object, {"status", "containerStatuses"})) {
    newest = std::max(newest, api::GetTime(status, {"state", "terminated", "finishedAt"}));
  }
  return newest;
}

Event ExitedWithCode(const JobState& state, const Pod& pod, int64_t code) {
  return Normal("ExitedWithCode", fmt::format("Pod: {}.{} exited with code {}",
                                              state.job.namespace_name, pod.name, code));
}

Event Ended(const Pod& pod, std::string_view container, const text::Json& terminated) {
  return Warning(text::GetString(terminated, {"reason"}),
                 fmt::format("{}exitCode: {} terminated message: {}",
                             api::ContainerErrorPrefix(pod.name, container),
                             text::GetInt(terminated, {"exitCode"}).value_or(0),
                             text::GetString(terminated, {"message"})));
}

void AnnounceExit(JobState& state, const Pod& pod) {
  const auto code = pod.ExitCode();
  if (!code) return;
  state.plan.events.push_back(ExitedWithCode(state, pod, *code));
  // Once the pod is replaced, nothing else tells it from a kill.
  for (const text::Json& status : text::Items(*pod.object, {"status", "containerStatuses"})) {
    const text::Json* const terminated = text::Find(status, {"state", "terminated"});
    if (terminated == nullptr || text::GetString(*terminated, {"reason"}) != api::kOomKilled)
      continue;
    state.plan.events.push_back(Ended(pod, text::GetString(status, {"name"}), *terminated));
  }
}

void AnnounceExits(JobState& state, const Replicas& replicas) {
  std::vector<const Pod*> succeeded;
  for (const Pod& pod : replicas.pods) {
    if (!replicas.IsWanted(pod)) continue;
    if (pod.phase == Phase::kFailed && !pod.is_terminating) AnnounceExit(state, pod);
    if (HasSucceeded(pod)) succeeded.push_back(&pod);
  }
  const auto& stored = state.job.status.replica_statuses;
  const auto found = stored.find(std::string(replicas.type));
  const size_t announced = found != stored.end() && found->second.succeeded > 0
                               ? static_cast<size_t>(found->second.succeeded)
                               : 0;
  if (succeeded.size() <= announced) return;
  std::stable_sort(succeeded.begin(), succeeded.end(),
                   [](const Pod* a, const Pod* b) { return FinishedAt(*a) < FinishedAt(*b); });
  for (size_t i = announced; i < succeeded.size(); ++i) AnnounceExit(state, *succeeded[i]);
}

// A problem of a pod, and since when it has it.
struct Trouble {
  base::Time since;
  Event event;
  size_t hash = 0;
  bool is_new = false;
};

class Troubles {
 public:
  Troubles(const JobState& state, const Pod& pod)
      : state_(state), pod_(pod), reported_until_(state.job.status.last_reconcile_time) {}

  std::vector<Trouble> Find() {
    for (const std::string_view list : {"containerStatuses", "initContainerStatuses"}) {
      const text::Array& statuses = text::Items(*pod_.object, {"status", list});
      for (const text::Json& status : statuses) ReadContainer(status);
      if (!statuses.empty()) return std::move(found_);
    }
    ReadConditions();
    return std::move(found_);
  }

 private:
  // `since` is called only for a problem, since most pods have none. A message may change while its
  // trouble lasts: schedulers count nodes, and DNS clients name a port.
  template <typename Since>
  void Add(std::string_view container, Since since, Event event) {
    const MaybeTime time = since();
    const size_t hash =
        std::hash<std::string>()(fmt::format("{}\n{}\n{}\n{}", pod_.uid, container, event.reason,
                                             time ? base::FormatRfc3339(*time) : ""));
    const std::set<size_t>* const announced = state_.observed.announced;
    const bool is_old = announced != nullptr
                            ? announced->contains(hash)
                            : reported_until_ && (!time || *time <= *reported_until_);
    found_.push_back({time.value_or(state_.now), std::move(event), hash, !is_old});
  }

  void ReadContainer(const text::Json& status) {
    const text::Json* const container_state = text::Find(status, {"state"});
    if (container_state == nullptr) return;
    const std::string_view name = text::GetString(status, {"name"});
    if (const text::Json* const terminated = text::Find(*container_state, {"terminated"})) {
      ReadTerminated(name, *terminated);
    }
    const std::string_view message = text::GetString(*container_state, {"waiting", "message"});
    if (message.empty()) return;
    Add(
        name, [&] { return NewestDate(); },
        Warning(text::GetString(*container_state, {"waiting", "reason"}),
                fmt::format("{}waiting message: {}", api::ContainerErrorPrefix(pod_.name, name),
                            message)));
  }

  void ReadTerminated(std::string_view name, const text::Json& terminated) {
    const int64_t code = text::GetInt(terminated, {"exitCode"}).value_or(0);
    const auto since = [&] {
      const MaybeTime finished = api::GetTime(terminated, {"finishedAt"});
      return finished ? finished : NewestDate();
    };
    if (name == api::kContainerName) Add(name, since, ExitedWithCode(state_, pod_, code));
    if (code == 0) return;
    Add(name, since, Ended(pod_, name, terminated));
  }

  // While no container has started, the condition that changed last describes the pod.
  void ReadConditions() {
    const text::Json* newest = nullptr;
    MaybeTime newest_time;
    for (const text::Json& condition : text::Items(*pod_.object, {"status", "conditions"})) {
      const MaybeTime time = api::GetTime(condition, {"lastTransitionTime"});
      if (newest != nullptr && time <= newest_time) continue;
      newest = &condition;
      newest_time = time;
    }
    if (newest == nullptr || text::GetString(*newest, {"status"}) == "True") return;
    Add(
        "", [&] { return newest_time ? newest_time : NewestDate(); },
        Warning(text::GetString(*newest, {"reason"}),
                fmt::format("Error pod {} condition message: {}", pod_.name,
                            text::GetString(*newest, {"message"}))));
  }

  MaybeTime NewestDate() const {
    MaybeTime newest = api::GetTime(*pod_.object, {"metadata", "creationTimestamp"});
    newest = std::max(newest, api::GetTime(*pod_.object, {"status", "startTime"}));
    for (const text::Json& condition : text::Items(*pod_.object, {"status", "conditions"})) {
      newest = std::max(newest, api::GetTime(condition, {"lastTransitionTime"}));
    }
    for (const std::string_view list : {"containerStatuses", "initContainerStatuses"}) {
      for (const text::Json& status : text::Items(*pod_.object, {"status", list})) {
        newest = std::max(newest, api::GetTime(status, {"lastState", "terminated", "finishedAt"}));
        newest = std::max(newest, api::GetTime(status, {"state", "terminated", "finishedAt"}));
      }
    }
    return newest;
  }

  const JobState& state_;
  const Pod& pod_;
  const MaybeTime reported_until_;
  std::vector<Trouble> found_;
};

}  // namespace

void AnnounceExits(JobState& state) {
  for (const Replicas* const replicas : state.Types()) AnnounceExits(state, *replicas);
}

void AnnounceAbnormalPods(JobState& state) {
  MaybeTime newest;
  for (const Replicas* const replicas : state.Types()) {
    for (const Pod& pod : replicas->pods) {
      const bool has_ended = pod.phase == Phase::kSucceeded || pod.phase == Phase::kFailed;
      if (has_ended || pod.is_terminating) continue;
      for (Trouble& trouble : Troubles(state, pod).Find()) {
        state.plan.troubles.insert(trouble.hash);
        if (!trouble.is_new) continue;
        newest = std::max(newest, MaybeTime(trouble.since));
        state.plan.events.push_back(std::move(trouble.event));
      }
    }
  }
  // A node whose clock is ahead of ours must not have its events repeated.
  if (newest) {
    state.status.last_reconcile_time =
        std::max({state.stamp, base::Time(std::chrono::ceil<std::chrono::seconds>(*newest)),
                  state.status.last_reconcile_time.value_or(state.stamp)});
  }
}

}  // namespace reconcile
