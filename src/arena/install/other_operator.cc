#include "arena/install/other_operator.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/object.h"
#include "arena/install/install_plan.h"
#include "arena/objects/rollout.h"
#include "base/strings.h"

namespace arena {
namespace {

using base::Code;
using base::Fail;

constexpr std::string_view kPyTorchWebhook = "validator.pytorchjob.training-operator.kubeflow.org";
constexpr std::string_view kAdmissionApi = "admissionregistration.k8s.io/v1";
constexpr std::string_view kSchemeFlag = "enable-scheme";
// For a write to an object that others write, too.
constexpr int kTriesOnConflict = 5;

// "--enable-scheme=x" -> "x"; nullopt for other words.
std::optional<std::string_view> SchemeOf(std::string_view word) {
  if (!word.starts_with('-')) return std::nullopt;
  word.remove_prefix(word.starts_with("--") ? 2 : 1);
  if (!word.starts_with(kSchemeFlag)) return std::nullopt;
  word.remove_prefix(kSchemeFlag.size());
  if (word.empty() || word[0] != '=') return std::nullopt;
  return word.substr(1);
}

bool IsBareSchemeFlag(std::string_view word) {
  return word == "--enable-scheme" || word == "-enable-scheme";
}

text::Json* ContainerOf(text::Json& deployment) {
  text::Json* const containers = text::Find(deployment, {"spec", "template", "spec", "containers"});
  if (containers == nullptr || !containers->is_array() || containers->get_array().empty()) {
    return nullptr;
  }
  return &containers->get_array().front();
}

// The container's command line without the flags that name kinds, and those kinds.
struct Schemes {
  text::Array command, args;
  std::set<std::string> named;
};

Schemes ReadSchemes(const text::Json& deployment) {
  Schemes out;
  text::Json copy = deployment;
  const text::Json* const container = ContainerOf(copy);
  if (container == nullptr) return out;
  for (const std::string_view list : {"command", "args"}) {
    const text::Array& words = text::Items(*container, {list});
    text::Array& kept = list == "command" ? out.command : out.args;
    for (size_t i = 0; i < words.size(); ++i) {
      const std::string_view word = text::GetString(words[i], {});
      if (const auto scheme = SchemeOf(word)) {
        out.named.insert(base::ToLower(*scheme));
      } else if (IsBareSchemeFlag(word) && i + 1 < words.size()) {
        out.named.insert(base::ToLower(text::GetString(words[++i], {})));
      } else {
        kept.push_back(words[i]);
      }
    }
  }
  return out;
}

// Empty without permission to look, or without the kind.
base::Result<std::vector<text::Json>> ListIfAllowed(cluster::Client& client, KindFinder& kinds,
                                                    std::string_view api_version,
                                                    std::string_view kind,
                                                    const cluster::ListOptions& options) {
  TRY_ASSIGN(const api::Resource* resource, kinds.Find(api_version, kind));
  auto list = client.List(*resource, options);
  if (!list && list.error().code == Code::kPermissionDenied) return std::vector<text::Json>();
  if (!list) return Fail(std::move(list.error()));
  return std::move(list->items);
}

// The kinds of Kubeflow's v1 API in the cluster, except for PyTorchJobs: "tfjob".
base::Result<std::set<std::string>> InstalledOtherKinds(KindFinder& kinds) {
  std::set<std::string> found;
  for (const char* kind : {"TFJob", "XGBoostJob", "MPIJob", "PaddleJob", "JAXJob"}) {
    const auto resource = kinds.Find("kubeflow.org/v1", kind);
    if (resource) found.insert(base::ToLower(kind));
    if (!resource && resource.error().code != Code::kInvalidArgument) {
      return Fail(resource.error());
    }
  }
  return found;
}

// Reads, changes and writes, and repeats that on a conflict.
base::Status Change(cluster::Client& client, const api::Resource& resource,
                    const text::Json& object, const std::function<void(text::Json&)>& change) {
  base::Error last;
  for (int i = 0; i < kTriesOnConflict; ++i) {
    auto now = client.Get(resource, api::Namespace(object), api::Name(object));
    if (!now && now.error().code == Code::kNotFound) return {};
    if (!now) return Fail(std::move(now.error()));
    change(*now);
    const auto written = client.Update(resource, *now);
    if (written) return {};
    last = written.error();
    if (last.code != Code::kConflict) break;
  }
  return Fail(std::move(last));
}

}  // namespace

std::string OtherOperator::Text() const {
  if (deployment) {
    return fmt::format("Kubeflow's training operator (deployment {}/{})",
                       api::Namespace(*deployment), api::Name(*deployment));
  }
  return fmt::format(
      "the webhook of Kubeflow's training operator "
      "(validatingwebhookconfiguration {})",
      api::Name(webhook_configurations.front()));
}

bool RunsPyTorchJobs(const text::Json& deployment) {
  if (text::GetInt(deployment, {"spec", "replicas"}).value_or(1) == 0) return false;
  const Schemes schemes = ReadSchemes(deployment);
  return schemes.named.empty() || schemes.named.contains("pytorchjob");
}

void LeaveToIt(const std::set<std::string>& kinds, text::Json& deployment) {
  Schemes schemes = ReadSchemes(deployment);
  std::set<std::string> left = schemes.named.empty() ? kinds : schemes.named;
  left.erase("pytorchjob");
  if (left.empty()) return text::Set(deployment, {"spec", "replicas"}, 0);
  text::Json* const container = ContainerOf(deployment);
  if (container == nullptr) return;
  for (const std::string& kind : left) schemes.args.emplace_back("--enable-scheme=" + kind);
  if (!schemes.command.empty()) text::Set(*container, {"command"}, std::move(schemes.command));
  text::Set(*container, {"args"}, std::move(schemes.args));
}

bool HasPyTorchWebhook(const text::Json& configuration) {
  return text::ItemNamed(configuration, {"webhooks"}, kPyTorchWebhook) != nullptr;
}

void ErasePyTorchWebhook(text::Json& configuration) {
  text::Json* const webhooks = text::Find(configuration, {"webhooks"});
  if (webhooks == nullptr || !webhooks->is_array()) return;
  text::Array kept;
  for (text::Json& webhook : webhooks->get_array()) {
    if (text::GetString(webhook, {"name"}) != kPyTorchWebhook) kept.push_back(std::move(webhook));
  }
  *webhooks = std::move(kept);
}

base::Result<OtherOperator> FindOtherOperator(cluster::Client& client, KindFinder& kinds,
                                              const std::string& namespace_name) {
  OtherOperator other;
  cluster::ListOptions by_label;
  by_label.namespace_name = namespace_name;
  by_label.label_selector = "control-plane=kubeflow-training-operator";
  cluster::ListOptions by_name;
  by_name.namespace_name = namespace_name;
  by_name.field_selector = "metadata.name=training-operator";
  for (const cluster::ListOptions& options : {by_label, by_name}) {
    TRY_ASSIGN(auto deployments, ListIfAllowed(client, kinds, "apps/v1", "Deployment", options));
    for (text::Json& deployment : deployments) {
      if (!other.deployment && RunsPyTorchJobs(deployment)) {
        other.deployment = std::move(deployment);
      }
    }
  }
  if (!namespace_name.empty()) return other;
  TRY_ASSIGN(auto configurations,
             ListIfAllowed(client, kinds, kAdmissionApi, "ValidatingWebhookConfiguration", {}));
  for (text::Json& configuration : configurations) {
    if (IsOurs(configuration) || !HasPyTorchWebhook(configuration)) continue;
    other.webhook_configurations.push_back(std::move(configuration));
  }
  return other;
}

base::Status TakeOver(cluster::Client& client, KindFinder& kinds, const OtherOperator& other,
                      std::chrono::milliseconds timeout) {
  // First, because its server is about to end, and without it no job could be created.
  for (const text::Json& configuration : other.webhook_configurations) {
    TRY_ASSIGN(const api::Resource* resource,
               kinds.Find(kAdmissionApi, "ValidatingWebhookConfiguration"));
    TRY(Change(client, *resource, configuration, ErasePyTorchWebhook));
  }
  if (!other.deployment) return {};
  TRY_ASSIGN(const api::Resource* deployments, kinds.Find("apps/v1", "Deployment"));
  TRY_ASSIGN(const auto left, InstalledOtherKinds(kinds));
  TRY(Change(client, *deployments, *other.deployment,
             [&](text::Json& deployment) { LeaveToIt(left, deployment); }));
  const auto gone =
      AwaitObject(client, *deployments, std::string(api::Namespace(*other.deployment)),
                  std::string(api::Name(*other.deployment)), timeout, MissingOfRollout);
  if (gone) return {};
  return Fail(gone.error().Wrap(fmt::format("{} has not released PyTorchJobs", other.Text())));
}

}  // namespace arena
