// The endpoint to which programs post their progress, as Kubeflow Trainer 2.3 has it: its
// variables, its path, and the words of its refusals. Pure.
//   Authorization: Bearer <token>
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace api {

inline constexpr std::string_view kStatusUrlVariable = "KUBEFLOW_TRAINER_SERVER_URL";
inline constexpr std::string_view kStatusTokenVariable = "KUBEFLOW_TRAINER_SERVER_TOKEN";  // a path
// A path, too; empty for plain HTTP.
inline constexpr std::string_view kStatusAuthorityVariable = "KUBEFLOW_TRAINER_SERVER_CA_CERT";
// A program that has one of them already reports elsewhere.
inline constexpr std::array kStatusVariables = {kStatusUrlVariable, kStatusTokenVariable,
                                                kStatusAuthorityVariable};

// On Kubernetes, for a pod: the certificates, in PEM, by which its programs recognise the endpoint.
inline constexpr std::string_view kStatusAuthorityAnnotation = "muster.dev/status-authority";
// For a job: the latest progress of each source, as runs::ProgressToJson writes it, in an array.
inline constexpr std::string_view kProgressAnnotation = "muster.dev/progress";
// The audience of the pods' tokens.
inline constexpr std::string_view kStatusAudience = "muster.dev/status";

// `base`: "http://127.0.0.1:40123".
std::string StatusUrl(std::string_view base, std::string_view namespace_name, std::string_view job);

struct PostedJob {
  std::string namespace_name;
  std::string name;
};
// Nullopt for a request that is not a post of a status.
std::optional<PostedJob> JobOfStatusPost(std::string_view method, std::string_view target);

// From the header Authorization; "" without the scheme "Bearer".
std::string_view BearerToken(std::string_view authorization);

struct PostRefusal {
  int status = 0;
  std::string_view reason;
  std::string_view message;
};
inline constexpr PostRefusal kNoPostPath{404, "NotFound", "Not found"};
inline constexpr PostRefusal kNoPostedJob{404, "NotFound", "Train job not found"};
inline constexpr PostRefusal kPostForbidden{403, "Forbidden", "Forbidden"};
inline constexpr PostRefusal kPostTooLarge{413, "RequestEntityTooLarge", "Payload too large"};
inline constexpr PostRefusal kPostFailed{500, "InternalError", "Internal error"};
inline constexpr PostRefusal InvalidPost(std::string_view message) {
  return {422, "Invalid", message};
}
// A metav1.Status as JSON.
std::string ToBody(const PostRefusal& refusal);

}  // namespace api
