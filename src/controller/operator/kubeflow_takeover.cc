#include "controller/operator/kubeflow_takeover.h"

#include <fmt/format.h>

#include <optional>
#include <string_view>
#include <utility>

#include "api/object.h"
#include "api/pod.h"
#include "api/resources.h"
#include "base/log.h"
#include "base/strings.h"
#include "controller/loop/projection.h"

namespace controller {
namespace {

constexpr std::string_view kSchemeFlag = "--enable-scheme";
// muster's own verb: Kubeflow's program takes flags only.
constexpr std::string_view kOurVerb = "operator";

// Whether muster runs in the pod in place of Kubeflow's operator, as in the Deployment's other
// replicas.
bool RunsMuster(const text::Json& container) {
  for (const std::string_view list : {"command", "args"}) {
    for (const text::Json& word : text::Items(container, {list})) {
      if (text::GetString(word, {}) == kOurVerb) return true;
    }
  }
  return false;
}

// Read from the flags of one container; nullopt when they name no kinds, so that it runs all of
// them.
std::optional<bool> NamesPyTorchJobs(const text::Json& container) {
  std::optional<bool> names;
  for (const std::string_view list : {"command", "args"}) {
    bool is_value = false;
    for (const text::Json& word : text::Items(container, {list})) {
      std::string_view text = text::GetString(word, {});
      if (!is_value && !text.starts_with(kSchemeFlag)) continue;
      if (!is_value && text == kSchemeFlag) {
        is_value = true;
        continue;
      }
      if (!is_value) text.remove_prefix(text.find('=') + 1);
      names = names.value_or(false) || base::EqualsIgnoreCase(text, "pytorchjob");
      is_value = false;
    }
  }
  return names;
}

void ProjectOperatorPod(text::Json& pod) {
  const text::Json* const containers = text::Find(pod, {"spec", "containers"});
  text::Json kept = containers != nullptr ? *containers : text::Json(text::Array());
  ProjectPod(pod);
  text::Set(pod, {"spec", "containers"}, std::move(kept));
}

}  // namespace

bool RunsPyTorchJobs(const text::Json& pod) {
  for (const text::Json& container : text::Items(pod, {"spec", "containers"})) {
    if (RunsMuster(container)) return false;
    if (const auto names = NamesPyTorchJobs(container)) return *names;
  }
  return true;
}

KubeflowOperatorWatch::KubeflowOperatorWatch(cluster::Client& client,
                                             const std::string& namespace_name, std::string own_pod,
                                             std::function<void(const std::string& pod)> changed)
    : own_pod_(std::move(own_pod)), changed_(std::move(changed)) {
  cluster::ReflectorHandler handler;
  handler.replace = [this](const std::vector<text::Json>& pods) {
    running_.clear();
    for (const text::Json& pod : pods) Take(pod, false);
    ReportChange();
  };
  handler.apply = [this](const cluster::WatchEvent& event) {
    Take(event.object, event.type == cluster::WatchEvent::Type::kDeleted);
    ReportChange();
  };
  handler.refused = [this](const base::Error&) { ReportChange(); };
  // The operator does not work before the first list.
  handler.unreachable = [this, is_said = false](const base::Error& error) mutable {
    if (has_reported_ || std::exchange(is_said, true)) return;
    base::LogWarn("list pods: {}; waiting", error.message);
  };
  cluster::ListOptions list;
  list.namespace_name = namespace_name;
  list.label_selector = kKubeflowSelector;
  list.trim = ProjectOperatorPod;
  reflector_ =
      std::make_unique<cluster::Reflector>(client, api::kPods, std::move(list), std::move(handler));
}

void KubeflowOperatorWatch::Take(const text::Json& pod, bool is_gone) {
  const std::string name = fmt::format("{}/{}", api::Namespace(pod), api::Name(pod));
  const bool runs = !is_gone && api::Phase(pod) == "Running" && !api::IsDeleting(pod) &&
                    api::Name(pod) != own_pod_ && RunsPyTorchJobs(pod);
  if (runs) {
    running_.insert(name);
  } else {
    running_.erase(name);
  }
}

void KubeflowOperatorWatch::ReportChange() {
  const std::string now = running_.empty() ? "" : *running_.begin();
  if (std::exchange(has_reported_, true) && now == reported_) return;
  reported_ = now;
  changed_(reported_);
}

}  // namespace controller
