#include "reconcile/pod/status_posts.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "api/pod.h"
#include "api/status_posts.h"
#include "reconcile/pod/pod_template.h"

namespace reconcile {
namespace {

constexpr std::string_view kVolume = "muster-status";
constexpr std::string_view kFolder = "/var/run/muster/status";
constexpr std::string_view kTokenFile = "token";
constexpr std::string_view kAuthorityFile = "ca.crt";
constexpr int64_t kTokenSeconds = 3600;  // kubelets renew it in time

bool HasEntry(const text::Json& object, std::string_view list, std::string_view field,
              std::string_view value) {
  return text::ItemNamed(object, {list}, value, field) != nullptr;
}

void Append(text::Json& object, std::string_view list, text::Object entry) {
  text::Json& entries = text::Ensure(object, {list});
  if (!entries.is_array()) entries.emplace_array();
  entries.get_array().push_back(std::move(entry));
}

text::Object Volume() {
  const std::string authority =
      fmt::format("metadata.annotations['{}']", api::kStatusAuthorityAnnotation);
  return {{"name", kVolume},
          {"projected",
           {{"sources",
             text::Array{text::Object{{"serviceAccountToken",
                                       {{"audience", api::kStatusAudience},
                                        {"expirationSeconds", kTokenSeconds},
                                        {"path", kTokenFile}}}},
                         text::Object{{"downwardAPI",
                                       {{"items", text::Array{text::Object{
                                                      {"path", kAuthorityFile},
                                                      {"fieldRef",
                                                       {{"apiVersion", "v1"},
                                                        {"fieldPath", authority}}}}}}}}}}}}}};
}

}  // namespace

void AddStatusPosts(const StatusPosts& posts, const api::PyTorchJob& job, text::Json& pod) {
  text::Json* const container = api::MainContainer(pod);
  if (posts.base_url.empty() || container == nullptr || !container->is_object()) return;
  const bool is_configured =
      std::any_of(api::kStatusVariables.begin(), api::kStatusVariables.end(),
                  [&](auto name) { return HasEntry(*container, "env", "name", name); });
  text::Json& spec = text::Ensure(pod, {"spec"});
  if (is_configured || HasEntry(spec, "volumes", "name", kVolume) ||
      HasEntry(*container, "volumeMounts", "mountPath", kFolder)) {
    return;
  }
  const auto add = [&](std::string_view name, std::string value) {
    Append(*container, "env", {{"name", name}, {"value", std::move(value)}});
  };
  add(api::kStatusUrlVariable, api::StatusUrl(posts.base_url, job.namespace_name, job.name));
  add(api::kStatusTokenVariable, fmt::format("{}/{}", kFolder, kTokenFile));
  add(api::kStatusAuthorityVariable, fmt::format("{}/{}", kFolder, kAuthorityFile));
  Append(*container, "volumeMounts",
         {{"name", kVolume}, {"mountPath", kFolder}, {"readOnly", true}});
  Append(spec, "volumes", Volume());
  text::Json& annotations = text::Ensure(pod, {"metadata", "annotations"});
  if (!annotations.is_object()) annotations.emplace_object();
  annotations.get_object()[api::kStatusAuthorityAnnotation] = posts.authorities;
}

}  // namespace reconcile
