#include "local/server/reviews.h"

#include <fmt/format.h>

#include "local/server/api_error.h"
#include "local/server/object_rules.h"

namespace local::server {
namespace {

text::Json Verdict(std::string_view kind, const std::string& user) {
  if (kind == "SelfSubjectAccessReview") return text::Object{{"allowed", true}};
  const text::Array everything{"*"};
  if (kind == "SelfSubjectRulesReview") {
    return text::Object{
        {"resourceRules",
         text::Array{text::Object{
             {"verbs", everything}, {"apiGroups", everything}, {"resources", everything}}}},
        {"nonResourceRules",
         text::Array{text::Object{{"verbs", everything}, {"nonResourceURLs", everything}}}},
        {"incomplete", false}};
  }
  return text::Object{{"userInfo", text::Object{{"username", user},
                                                {"groups", text::Array{"system:masters",
                                                                       "system:authenticated"}}}}};
}

}  // namespace

std::optional<net::HttpResponse> AnswerReview(const net::Target& target,
                                              const net::HttpRequest& http,
                                              const std::string& user) {
  const auto& path = target.segments;
  if (path.size() != 4 || path[0] != "apis" || path[2] != kReviewVersion) return std::nullopt;
  for (const Review& review : kReviews) {
    if (path[1] != review.group || path[3] != review.plural) continue;
    if (http.method != "POST") return ToResponse(MethodNotAllowed());
    auto body = DecodeBody(http, "couldn't read the review");
    if (!body) return ToResponse(body.error());
    if (!body->is_object()) return ToResponse(BadRequest("a review must be an object"));
    text::Object answer{{"kind", review.kind},
                        {"apiVersion", fmt::format("{}/{}", review.group, kReviewVersion)},
                        {"metadata", text::Object{{"creationTimestamp", nullptr}}}};
    if (const text::Json* spec = text::Find(*body, {"spec"})) answer["spec"] = *spec;
    answer["status"] = Verdict(review.kind, user);
    return JsonResponse(201, text::ToJson(answer));
  }
  return std::nullopt;
}

}  // namespace local::server
