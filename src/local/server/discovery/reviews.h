// Reviews: who the client is and what it may do. Whoever reaches the embedded cluster is its owner
// and may do everything. The only known token is that of the request itself.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "net/http/types.h"

namespace local::server {

struct Review {
  std::string_view group;
  std::string_view plural;
  std::string_view kind;
};
inline constexpr std::string_view kReviewVersion = "v1";
inline constexpr Review kReviews[] = {
    {"authentication.k8s.io", "selfsubjectreviews", "SelfSubjectReview"},
    {"authentication.k8s.io", "tokenreviews", "TokenReview"},
    {"authorization.k8s.io", "selfsubjectaccessreviews", "SelfSubjectAccessReview"},
    {"authorization.k8s.io", "selfsubjectrulesreviews", "SelfSubjectRulesReview"},
};

// The answer to a POST of a review; nullopt for other requests.
std::optional<net::HttpResponse> AnswerReview(const net::Target& target,
                                              const net::HttpRequest& http,
                                              const std::string& user);

}  // namespace local::server
