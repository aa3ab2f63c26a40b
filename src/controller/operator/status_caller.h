// The caller that posts the status of a job: the pod to which the token belongs, and its job. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "text/json.h"

namespace controller {

// The body of authentication.k8s.io/v1 TokenReview, for tokens of AddStatusPosts.
text::Json TokenReviewOf(std::string_view token);

struct TokenPod {
  std::string namespace_name;
  std::string name;
  std::string uid;
};
// The pod that the token is bound to. Nullopt for a token that is not valid, is for another
// audience, or is bound to no pod.
std::optional<TokenPod> ReadTokenReview(const text::Json& review);

struct PodJob {
  std::string name;
  std::string uid;
};
// The PyTorchJob that controls the pod; nullopt if it is another pod, or belongs to no job.
std::optional<PodJob> JobOfPod(const text::Json& pod, const TokenPod& token);

}  // namespace controller
