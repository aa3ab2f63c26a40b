#include "local/daemon/progress/job_pods.h"

#include <utility>

#include "api/gpu_troubles.h"
#include "api/names.h"
#include "api/object.h"
#include "api/resources.h"
#include "text/projection.h"

namespace local::daemon {

JobPods::JobPods(cluster::Client& client, std::vector<Listener> listeners)
    : listeners_(std::move(listeners)) {
  cluster::ListOptions options;
  options.label_selector = api::kJobNameLabel;
  options.read = [](std::string_view pod) {
    static const text::Projection kParts{{"metadata", "namespace"},
                                         {"metadata", "name"},
                                         {"metadata", "uid"},
                                         {"metadata", "labels"},
                                         {"metadata", "annotations", api::kGpusAnnotation},
                                         {"metadata", "annotations", api::kLogdirAnnotation},
                                         {"metadata", "annotations", api::kGpuTroublesAnnotation},
                                         {"metadata", "ownerReferences"},
                                         {"metadata", "resourceVersion"},
                                         {"metadata", "deletionTimestamp"},
                                         {"spec", "containers"},
                                         {"spec", "volumes", "hostPath"},
                                         {"status", "phase"},
                                         {"status", "startTime"}};
    return text::ParsePart(pod, kParts);
  };
  cluster::ReflectorHandler handler;
  handler.replace = [this](const std::vector<text::Json>& pods) { Replace(pods); };
  handler.apply = [this](const cluster::WatchEvent& event) { Apply(event); };
  reflector_ = std::make_unique<cluster::Reflector>(client, api::kPods, std::move(options),
                                                    std::move(handler));
}

void JobPods::Replace(const std::vector<text::Json>& pods) {
  std::set<std::string, std::less<>> gone = known_;
  for (const text::Json& pod : pods) gone.erase(std::string(api::Uid(pod)));
  for (const std::string& uid : gone) Tell(uid, nullptr);
  for (const text::Json& pod : pods) Tell(api::Uid(pod), &pod);
}

void JobPods::Apply(const cluster::WatchEvent& event) {
  const bool is_gone = event.type == cluster::WatchEvent::Type::kDeleted;
  Tell(api::Uid(event.object), is_gone ? nullptr : &event.object);
}

void JobPods::Tell(std::string_view uid, const text::Json* pod) {
  if (pod != nullptr && api::IsDeleting(*pod)) pod = nullptr;
  if (pod != nullptr) {
    known_.emplace(uid);
  } else if (const auto known = known_.find(uid); known != known_.end()) {
    known_.erase(known);
  } else {
    return;
  }
  for (const Listener& listener : listeners_) listener(uid, pod);
}

}  // namespace local::daemon
