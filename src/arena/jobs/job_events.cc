#include "arena/jobs/job_events.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "api/job/failure_cause.h"
#include "api/kinds.h"
#include "api/object.h"
#include "api/pod.h"
#include "arena/app/program_name.h"
#include "arena/jobs/absent_pods.h"
#include "base/log.h"
#include "base/strings.h"
#include "text/projection.h"

namespace arena {
namespace {

using Uids = std::set<std::string, std::less<>>;

int64_t VersionOf(const text::Json& event) {
  return base::ParseInt(text::GetString(event, {"metadata", "resourceVersion"})).value_or(0);
}

// The events about one of `uids` that match `field_selector` ("" for all), in the order in which
// they were written.
base::Result<std::vector<text::Json>> ListAbout(cluster::Client& client,
                                                const std::string& namespace_name, const Uids& uids,
                                                const std::string& field_selector) {
  cluster::ListOptions options;
  options.namespace_name = namespace_name;
  options.field_selector = field_selector;
  // A namespace may have hundreds of thousands, of other jobs.
  options.read = [&uids](std::string_view text) -> base::Result<text::Json> {
    static const text::Projection kAbout{{"involvedObject", "uid"}};
    TRY_ASSIGN(const text::Json event, text::ParsePart(text, kAbout));
    const bool is_ours = uids.contains(text::GetString(event, {"involvedObject", "uid"}));
    return is_ours ? text::ParseJson(text) : text::Json(nullptr);
  };
  TRY_ASSIGN(cluster::ObjectList list, client.List(api::kEvents, options));
  std::erase_if(list.items, [](const text::Json& event) { return event.is_null(); });
  // Many are of one second; those of a kind were written in the order of their versions.
  std::stable_sort(
      list.items.begin(), list.items.end(),
      [](const text::Json& a, const text::Json& b) { return VersionOf(a) < VersionOf(b); });
  return std::move(list.items);
}

// Whether its kubelet has the pod and has not started it.
bool IsStarting(const text::Json& pod) {
  return api::Phase(pod) == "Pending" && !api::NodeName(pod).empty() && !api::IsDeleting(pod);
}

// Makes what the first of these instances waits for the reason of a waiting job that has none.
void TakeReason(api::TrainingSummary& summary,
                const std::function<bool(const api::InstanceSummary&)>& is_wanted) {
  if (summary.status != "PENDING" || !summary.reason.empty()) return;
  for (const api::InstanceSummary& each : summary.instances) {
    if (each.waits.empty() || !is_wanted(each)) continue;
    summary.reason = fmt::format("{}: {}", each.name, each.waits);
    return;
  }
}

// Reads the latest warnings about pods that start, and whose status does not say what for.
void AddWarnings(cluster::Client& client, TrainingJob& job) {
  std::map<std::string, api::InstanceSummary*, std::less<>> mute;  // by uid
  Uids uids;
  for (api::InstanceSummary& instance : job.summary.instances) {
    const text::Json* const pod = job.Pod(instance.name);
    if (pod == nullptr || !instance.waits.empty() || !IsStarting(*pod)) continue;
    mute.emplace(api::Uid(*pod), &instance);
    uids.emplace(api::Uid(*pod));
  }
  if (mute.empty()) return;
  const auto events =
      ListAbout(client, job.summary.namespace_name, uids, "involvedObject.kind=Pod,type=Warning");
  if (!events) {
    base::LogDebug("what pods wait for is not known: {}", events.error().message);
    return;
  }
  for (const text::Json& event : *events) {
    const auto found = mute.find(text::GetString(event, {"involvedObject", "uid"}));
    if (found == mute.end()) continue;
    found->second->waits = fmt::format("{}: {}", text::GetString(event, {"reason"}),
                                       api::OneLine(text::GetString(event, {"message"})));
  }
  TakeReason(job.summary, [&](const api::InstanceSummary& each) {
    const text::Json* const pod = job.Pod(each.name);
    return pod != nullptr && uids.contains(api::Uid(*pod));
  });
}

}  // namespace

base::Result<std::vector<JobEvent>> EventsOf(cluster::Client& client, const Context& context,
                                             const TrainingJob& job, base::Time now) {
  Uids uids = {job.summary.uid};
  for (const text::Json& pod : job.pods) uids.emplace(api::Uid(pod));
  TRY_ASSIGN(const auto list, ListAbout(client, job.summary.namespace_name, uids, ""));
  std::vector<std::pair<base::Time, JobEvent>> found;
  for (const text::Json& event : list) {
    const bool is_pod = text::GetString(event, {"involvedObject", "kind"}) == "Pod";
    const base::Time time = api::ReadEvent(event).last.value_or(base::Time{});
    std::string message = UseProgramName(context, std::string(text::GetString(event, {"message"})));
    std::replace(message.begin(), message.end(), '\n', ' ');
    found.emplace_back(
        time, JobEvent{fmt::format("{}/{}", is_pod ? "pod" : job.summary.trainer,
                                   text::GetString(event, {"involvedObject", "name"})),
                       std::string(text::GetString(event, {"type"})),
                       base::ShortDuration(std::max(now - time, base::Duration(0))),
                       fmt::format("[{}] {}", text::GetString(event, {"reason"}), message)});
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<JobEvent> events;
  for (auto& [time, event] : found) events.push_back(std::move(event));
  return events;
}

void AddWordsOfEvents(cluster::Client& client, const Context& context, TrainingJob& job) {
  AddWordsOfAbsentPods(client, job);
  if (!context.cluster_is_this_machine) {
    AddWarnings(client, job);
    // Nothing is wrong with a pod whose init container has not ended, but nothing else waits.
    TakeReason(job.summary, [](const api::InstanceSummary&) { return true; });
  }
  if (job.summary.status == "PENDING") AddWordsOfReplacedPods(client, job);
}

}  // namespace arena
