#include "local/daemon/admission.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "api/names.h"
#include "api/object.h"
#include "api/pod.h"
#include "base/environment.h"
#include "base/strings.h"
#include "gpu/vendor.h"
#include "local/node/plan/image_map.h"
#include "local/node/pod/pod_spec.h"

namespace local::daemon {
namespace {

constexpr size_t kMaxEnvironmentBytes = 32 << 10;

struct Chosen {
  std::string python;
  std::string environment;
  std::string umask;  // "" when it is not known
};

Chosen Choose(const net::Headers& headers, const AdmissionDefaults& defaults) {
  Chosen chosen{defaults.python, defaults.environment, ""};
  const std::string_view umask = net::FindHeader(headers, kUmaskHeader);
  if (api::ParseUmask(umask)) chosen.umask = umask;
  const std::string_view python = net::FindHeader(headers, kPythonHeader);
  if (python.starts_with('/')) chosen.python = python;
  const std::string_view environment = net::FindHeader(headers, kEnvironmentHeader);
  if (!environment.empty() && environment.size() <= kMaxEnvironmentBytes) {
    const auto parsed = text::ParseJson(environment);
    if (parsed && parsed->is_object()) chosen.environment = environment;
  }
  return chosen;
}

void Annotate(text::Json& object, const Chosen& chosen) {
  const auto set = [&](std::string_view key, const std::string& value) {
    if (value.empty() || text::Find(object, {"metadata", "annotations", key}) != nullptr) return;
    text::Set(object, {"metadata", "annotations", key}, text::Json(value));
  };
  set(api::kPythonAnnotation, chosen.python);
  set(api::kEnvironmentAnnotation, chosen.environment);
  set(api::kUmaskAnnotation, chosen.umask);
}

// A job may choose itself when to notify.
void AddNotice(text::Json& job, const AdmissionDefaults& defaults) {
  if (defaults.notify.empty() || !api::Annotation(job, api::kNotifyAnnotation).empty()) return;
  text::Set(job, {"metadata", "annotations", api::kNotifyAnnotation}, text::Json(defaults.notify));
  if (!api::Label(job, api::kNotifyAnnotation).empty()) return;
  text::Set(job, {"metadata", "labels", api::kNotifyAnnotation}, text::Json(defaults.notify_on));
}

// The daemon may have been started outside of the session in which the job is submitted.
void AddSessionBus(text::Json& job, std::string_view address) {
  const auto targets = base::Split(api::Annotation(job, api::kNotifyAnnotation), '\n');
  if (address.empty() || std::ranges::find(targets, api::kNotifyDesktop) == targets.end()) return;
  text::Set(job, {"metadata", "annotations", api::kSessionBusAnnotation}, text::Json(address));
}

// The variables that a container sets itself. If one takes its value from elsewhere, the value is
// not known here, and its name stands for it.
base::Environment OwnVariables(const text::Json& container) {
  base::Environment own;
  for (const text::Json& variable : text::Items(container, {"env"})) {
    const std::string name(text::GetString(variable, {"name"}));
    const bool is_from_elsewhere = text::Find(variable, {"valueFrom"}) != nullptr;
    own.Set(name, is_from_elsewhere ? name : std::string(text::GetString(variable, {"value"})));
  }
  return own;
}

// How many of the machine's GPUs the pods of a job do not see because it asks for none. 0 where one
// of its containers says itself which it sees.
int64_t HiddenGpus(const std::vector<base::Environment>& containers, const Abilities& abilities) {
  const int64_t gpus = abilities.gpus ? abilities.gpus() : 0;
  if (gpus == 0) return 0;
  const auto is_hidden = [&vendor = abilities.gpu_vendor()](const base::Environment& own) {
    return !vendor.hidden(own).empty();
  };
  return std::ranges::all_of(containers, is_hidden) ? gpus : 0;
}

// Describes what the job's pods run in place of their images.
std::vector<std::string> SayWhatRuns(const std::set<std::string>& images, const std::string& python,
                                     int64_t hidden_gpus, const AdmissionDefaults& defaults) {
  node::ImageMap map;
  std::vector<std::string> said;
  if (auto loaded = node::LoadImageMap(defaults.image_map); loaded) {
    map = std::move(*loaded);
  } else if (!defaults.image_map.empty()) {
    said.push_back(loaded.error().message);
  }
  std::vector<std::string> unused;
  for (const std::string& image : images) {
    const node::MappedImage* const mapped = node::FindImage(map, image);
    if (mapped == nullptr) {
      unused.push_back(image);
    } else {
      said.push_back(
          fmt::format("directory {} takes the place of image {}", mapped->directory, image));
    }
  }
  if (defaults.has_podman && !unused.empty()) {
    said.push_back(fmt::format("podman runs image {}", fmt::join(unused, ", ")));
    return said;
  }
  std::string runs =
      fmt::format("the pods run in this machine's own environment (python: {})", python);
  if (hidden_gpus > 0) {
    runs +=
        fmt::format(", without its {} GPU{} (--gpus)", hidden_gpus, hidden_gpus == 1 ? "" : "s");
  }
  said.push_back(unused.empty()
                     ? std::move(runs)
                     : fmt::format("image {} is not used: {}", fmt::join(unused, ", "), runs));
  return said;
}

}  // namespace

std::vector<std::string> AdmitCreate(const api::Resource& resource, const net::Headers& headers,
                                     const AdmissionDefaults& defaults, text::Json& object) {
  const bool is_job = &resource == &api::kPyTorchJobs;
  const bool is_deployment = &resource == &api::kDeployments;
  if (!is_job && !is_deployment && &resource != &api::kPods) return {};
  const Chosen chosen = Choose(headers, defaults);
  if (is_deployment) {
    text::Json* const pod_template = text::Find(object, {"spec", "template"});
    if (pod_template != nullptr && pod_template->is_object()) Annotate(*pod_template, chosen);
    return {};
  }
  std::set<std::string> images;
  std::vector<base::Environment> containers;
  Annotate(object, chosen);
  // A controller's pods have what their template has, so no warning is repeated.
  if (!is_job && !api::ControllerUid(object).empty()) return {};
  if (!is_job) return IgnoredOfPod(object);
  AddNotice(object, defaults);
  AddSessionBus(object, net::FindHeader(headers, kSessionBusHeader));
  if (text::Json* const replicas = text::Find(object, {"spec", "pytorchReplicaSpecs"});
      replicas != nullptr && replicas->is_object()) {
    for (auto& [type, replica] : replicas->as_object()) {
      text::Json* const pod_template = text::Find(replica, {"template"});
      if (pod_template == nullptr || !pod_template->is_object()) continue;
      Annotate(*pod_template, chosen);
      for (const text::Json& container : text::Items(*pod_template, {"spec", "containers"})) {
        const std::string_view image = text::GetString(container, {"image"});
        if (!image.empty() && image != node::kHostImage) images.emplace(image);
        containers.push_back(OwnVariables(container));
      }
    }
  }
  const int64_t hidden_gpus =
      GpusAskedFor(object) > 0 ? 0 : HiddenGpus(containers, defaults.abilities);
  std::vector<std::string> said = SayWhatRuns(images, chosen.python, hidden_gpus, defaults);
  text::Erase(object, {"metadata", "annotations", api::kUnmetAnnotation});
  const std::vector<std::string> unmet = UnmetWishes(object, defaults.abilities);
  if (!unmet.empty()) {
    text::Set(object, {"metadata", "annotations", api::kUnmetAnnotation},
              text::Json(base::Join(unmet, "\n")));
  }
  said.insert(said.end(), unmet.begin(), unmet.end());
  if (!defaults.missing_launcher.empty()) {
    said.push_back(
        fmt::format("torchrun in the pods is PyTorch's own, because there is no {}: install "
                    "muster-launch beside muster, then run muster down",
                    defaults.missing_launcher));
  }
  return said;
}

void AdmitClaim(text::Json& claim) {
  if (!api::Annotation(claim, api::kVolumePathAnnotation).starts_with('/')) {
    text::Set(claim, {"status"}, text::Object{{"phase", "Pending"}});
    return;
  }
  text::Object status{{"phase", "Bound"}};
  if (const text::Json* modes = text::Find(claim, {"spec", "accessModes"})) {
    status["accessModes"] = *modes;
  }
  if (const text::Json* size = text::Find(claim, {"spec", "resources", "requests", "storage"})) {
    status["capacity"] = text::Object{{"storage", *size}};
  }
  text::Set(claim, {"status"}, std::move(status));
}

}  // namespace local::daemon
