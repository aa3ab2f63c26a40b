#include "controller/rival.h"

#include <fmt/format.h>

#include <utility>

#include "api/object.h"
#include "api/pod.h"
#include "api/resources.h"
#include "controller/projection.h"

namespace controller {

Rival::Rival(cluster::Client& client, const std::string& namespace_name, std::string own_pod,
             std::function<void(const std::string& pod)> changed)
    : own_pod_(std::move(own_pod)), changed_(std::move(changed)) {
  cluster::ReflectorHandler handler;
  handler.replace = [this](const std::vector<text::Json>& pods) {
    running_.clear();
    for (const text::Json& pod : pods) Take(pod, false);
    Tell();
  };
  handler.apply = [this](const cluster::WatchEvent& event) {
    Take(event.object, event.type == cluster::WatchEvent::Type::kDeleted);
    Tell();
  };
  handler.refused = [this](const base::Error&) { Tell(); };
  cluster::ListOptions list;
  list.namespace_name = namespace_name;
  list.label_selector = kKubeflowSelector;
  list.trim = ProjectPod;
  reflector_ =
      std::make_unique<cluster::Reflector>(client, api::kPods, std::move(list), std::move(handler));
}

void Rival::Take(const text::Json& pod, bool is_gone) {
  const std::string name = fmt::format("{}/{}", api::Namespace(pod), api::Name(pod));
  const bool runs = !is_gone && api::Phase(pod) == "Running" && !api::IsDeleting(pod) &&
                    api::Name(pod) != own_pod_;
  if (runs) {
    running_.insert(name);
  } else {
    running_.erase(name);
  }
}

void Rival::Tell() {
  const std::string now = running_.empty() ? "" : *running_.begin();
  if (std::exchange(has_told_, true) && now == told_) return;
  told_ = now;
  changed_(told_);
}

}  // namespace controller
