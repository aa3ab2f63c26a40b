#include "controller/operator/status_caller.h"

#include <algorithm>

#include "api/object.h"
#include "api/resources.h"
#include "api/status_posts.h"

namespace controller {
namespace {

constexpr std::string_view kServiceAccount = "system:serviceaccount:";
constexpr std::string_view kPodName = "authentication.kubernetes.io/pod-name";
constexpr std::string_view kPodUid = "authentication.kubernetes.io/pod-uid";

// Returns a value of user.extra, whose values are lists.
std::string_view ExtraOf(const text::Json& review, std::string_view key) {
  const text::Array& values = text::Items(review, {"status", "user", "extra", key});
  return values.size() == 1 ? text::GetString(values[0], {}) : "";
}

}  // namespace

text::Json TokenReviewOf(std::string_view token) {
  return text::Object{
      {"apiVersion", "authentication.k8s.io/v1"},
      {"kind", "TokenReview"},
      {"spec", text::Object{{"token", token}, {"audiences", text::Array{api::kStatusAudience}}}}};
}

std::optional<TokenPod> ReadTokenReview(const text::Json& review) {
  if (!text::GetBool(review, {"status", "authenticated"}).value_or(false)) return std::nullopt;
  // A server that knows no audiences leaves them out, and has not checked them.
  const bool is_for_us = std::ranges::any_of(
      text::Items(review, {"status", "audiences"}),
      [](const auto& one) { return text::GetString(one, {}) == api::kStatusAudience; });
  if (!is_for_us) return std::nullopt;
  std::string_view user = text::GetString(review, {"status", "user", "username"});
  if (!user.starts_with(kServiceAccount)) return std::nullopt;
  user.remove_prefix(kServiceAccount.size());
  TokenPod pod{std::string(user.substr(0, user.find(':'))), std::string(ExtraOf(review, kPodName)),
               std::string(ExtraOf(review, kPodUid))};
  if (pod.namespace_name.empty() || pod.name.empty() || pod.uid.empty()) return std::nullopt;
  return pod;
}

std::optional<PodJob> JobOfPod(const text::Json& pod, const TokenPod& token) {
  if (api::Uid(pod) != token.uid) return std::nullopt;
  for (const text::Json& owner : text::Items(pod, {"metadata", "ownerReferences"})) {
    const bool is_job = text::GetString(owner, {"kind"}) == api::kPyTorchJobs.kind &&
                        text::GetString(owner, {"apiVersion"}) == api::kPyTorchJobs.api_version() &&
                        text::GetBool(owner, {"controller"}).value_or(false);
    if (!is_job) continue;
    return PodJob{std::string(text::GetString(owner, {"name"})),
                  std::string(text::GetString(owner, {"uid"}))};
  }
  return std::nullopt;
}

}  // namespace controller
