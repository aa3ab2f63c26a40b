#include "watcher.h"

#include <fmt/format.h>

#include <utility>

#include "api/object.h"
#include "api/pod.h"
#include "api/resources.h"
#include "base/strings.h"
#include "text/json.h"
#include "text/projection.h"

namespace simulation {
namespace {

// Objects of one name, one after another, in one life.
constexpr int kMostOfAName = 60;

}  // namespace

std::optional<api::JobStatus> StatusOf(const text::Json& job) {
  const text::Json* const stored = text::Find(job, {"status"});
  if (stored == nullptr) return std::nullopt;
  auto status = api::ParseJobStatus(*stored);
  if (!status) GoneWrong("a status that cannot be read: " + text::ToJson(job));
  return std::move(*status);
}

Watcher::Watcher(Machine& machine, const api::Resource& resource)
    : resource_(resource), machine_(machine), client_(CommandTransport(machine)) {
  cluster::ReflectorHandler handler;
  handler.replace = [this](const std::vector<text::Json>& items) {
    known_.clear();
    for (const text::Json& item : items) Take(item, true);
  };
  handler.apply = [this](const cluster::WatchEvent& event) {
    const std::string name(api::Name(event.object));
    const bool is_known = known_.contains(name);
    if (event.type == cluster::WatchEvent::Type::kDeleted) {
      if (!is_known) GoneWrong(name + " was deleted, and nobody had said that it was there");
      known_.erase(name);
      return;
    }
    if (is_known == (event.type == cluster::WatchEvent::Type::kAdded)) {
      GoneWrong(name +
                (is_known ? " is added twice" : " changes, and nobody had said that it was there"));
    }
    Take(event.object, false);
  };
  cluster::ListOptions options;
  options.read = [this](std::string_view object) -> base::Result<text::Json> {
    static const text::Projection kMetadata{
        {"metadata", "name"}, {"metadata", "uid"}, {"metadata", "resourceVersion"}};
    static const text::Projection kJob(kMetadata, {{"status"}});
    static const text::Projection kPod(kMetadata, {{"status", "phase"}, {"status", "reason"}});
    return text::ParsePart(object, &resource_ == &api::kPods ? kPod : kJob);
  };
  reflector_ = std::make_unique<cluster::Reflector>(client_, resource, std::move(options),
                                                    std::move(handler));
}

void Watcher::Take(const text::Json& object, bool is_listed) {
  const std::string name(api::Name(object)), uid(api::Uid(object));
  std::string& version = known_[name];
  const std::string next(api::ResourceVersion(object));
  if (!is_listed && !version.empty() &&
      base::ParseInt(next).value_or(0) <= base::ParseInt(version).value_or(0)) {
    GoneWrong(fmt::format("version {} of {} comes after {}", next, name, version));
  }
  version = next;
  std::string end;
  if (&resource_ == &api::kPods) {
    if (api::IsPodFinished(object)) end = api::Phase(object);
    CheckPod(object);
  } else if (const auto status = StatusOf(object); status && status->IsFinished()) {
    end = status->Is("Succeeded") ? "Succeeded" : "Failed";
  }
  if (!finished_.contains(uid) && ++born_[name] > kMostOfAName) {
    GoneWrong(fmt::format("{} is made again and again", name));
  }
  std::string& was = finished_[uid];
  if (!was.empty() && was != end) {
    GoneWrong(fmt::format("{} had {}, and now: {}", name, was, text::ToJson(object)));
  }
  was = end;
}

void Watcher::CheckPod(const text::Json& pod) {
  const std::string uid(api::Uid(pod)), name(api::Name(pod));
  const int phase = api::IsPodFinished(pod) ? 2 : api::Phase(pod) == "Running" ? 1 : 0;
  int& last = phases_[uid];
  if (phase < last) GoneWrong(fmt::format("pod {} goes back to {}", name, api::Phase(pod)));
  last = phase;
  if (phase < 2) return;
  // What a shim's last report says, which was on the disk before the shim ended, holds.
  const std::optional<bool> has_succeeded = machine_.shims().Ended(uid);
  const std::string_view reason = text::GetString(pod, {"status", "reason"});
  const bool is_lost = reason == "ShimLost" || reason == "NodeRebooted";
  const bool is_other =
      reason.empty() && has_succeeded && *has_succeeded != (api::Phase(pod) == "Succeeded");
  if (has_succeeded && (is_lost || is_other)) {
    GoneWrong(fmt::format("pod {} has {} in its last report, and is {} {}", name,
                          *has_succeeded ? "succeeded" : "failed", api::Phase(pod), reason));
  }
}

std::map<std::string, std::string> Watcher::Listed() {
  std::map<std::string, std::string> listed;
  const auto list = client_.List(resource_, {});
  if (!list) GoneWrong("list: " + list.error().message);
  for (const text::Json& item : list->items) {
    listed[std::string(api::Name(item))] = api::ResourceVersion(item);
  }
  return listed;
}

std::vector<std::string> Watcher::Uids() const {
  std::vector<std::string> uids;
  for (const auto& [uid, end] : finished_) uids.push_back(uid);
  return uids;
}

bool Watcher::IsUpToDate() { return Listed() == known_; }

void Watcher::CheckAgainstList() {
  const Nanos deadline = Now() + 60 * kSecond;
  while (!IsUpToDate()) {
    if (Now() > deadline) {
      std::string text;
      for (const auto& [name, version] : known_) text += fmt::format(" {}@{}", name, version);
      GoneWrong(
          fmt::format("who watches {} has missed something: knows{}", resource_.plural, text));
    }
    SleepFor(kSecond);
  }
}

}  // namespace simulation
