#include "local/daemon/progress/job_pods.h"

#include <functional>
#include <utility>

#include "api/gpu_troubles.h"
#include "api/names.h"
#include "api/object.h"
#include "api/pod.h"
#include "api/resources.h"
#include "text/document.h"
#include "text/projection.h"

namespace local::daemon {

namespace {

// What the listeners read of a pod. The specification of one that has ended matters only where its
// end is news.
base::Result<text::Json> ReadJobPod(const text::Document& document,
                                    const std::function<bool(std::string_view)>& is_news) {
  static const text::Projection kParts{{"metadata", "namespace"},
                                       {"metadata", "name"},
                                       {"metadata", "uid"},
                                       {"metadata", "labels", api::kJobNameLabel},
                                       {"metadata", "annotations", api::kGpusAnnotation},
                                       {"metadata", "annotations", api::kLogdirAnnotation},
                                       {"metadata", "annotations", api::kGpuTroublesAnnotation},
                                       {"metadata", "ownerReferences"},
                                       {"metadata", "resourceVersion"},
                                       {"metadata", "deletionTimestamp"},
                                       {"status", "phase"},
                                       {"status", "startTime"}};
  static const text::Projection kBegunParts(
      kParts, {{"spec", "containers"}, {"spec", "volumes", "hostPath"}});
  TRY_ASSIGN(text::Json pod, document.Part(kParts));
  const bool is_news_of_end = api::IsPodFinished(pod) && is_news(api::Uid(pod));
  if (api::Phase(pod) != "Running" && !is_news_of_end) return pod;
  return document.Part(kBegunParts);
}

}  // namespace

JobPods::JobPods(cluster::Client& client, std::vector<Listener> listeners)
    : listeners_(std::move(listeners)) {
  cluster::ListOptions options;
  options.label_selector = api::kJobNameLabel;
  options.read = [](const text::Document& document) {
    return ReadJobPod(document, [](std::string_view) { return true; });
  };
  // Each pod is announced as it comes: of eighty thousand only the uids are in memory together.
  options.read_listed = [this](const text::Document& document) -> base::Result<text::Json> {
    TRY_ASSIGN(const text::Json pod,
               ReadJobPod(document, [this](std::string_view uid) { return known_.contains(uid); }));
    Announce(api::Uid(pod), &pod);
    return text::Json(api::Uid(pod));
  };
  cluster::ReflectorHandler handler;
  handler.replace = [this](const std::vector<text::Json>& uids) { Keep(uids); };
  handler.apply = [this](const cluster::WatchEvent& event) { Apply(event); };
  reflector_ = std::make_unique<cluster::Reflector>(client, api::kPods, std::move(options),
                                                    std::move(handler));
}

void JobPods::Keep(const std::vector<text::Json>& uids) {
  std::set<std::string, std::less<>> gone = known_;
  for (const text::Json& uid : uids) gone.erase(std::string(uid.get_string()));
  for (const std::string& uid : gone) Announce(uid, nullptr);
}

void JobPods::Apply(const cluster::WatchEvent& event) {
  const bool is_gone = event.type == cluster::WatchEvent::Type::kDeleted;
  Announce(api::Uid(event.object), is_gone ? nullptr : &event.object);
}

void JobPods::Announce(std::string_view uid, const text::Json* pod) {
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
