#include "local/server/discovery/reviews.h"

#include <fmt/format.h>

#include "base/strings.h"
#include "local/server/kinds/object_rules.h"
#include "local/server/request/api_error.h"

namespace local::server {
namespace {

// The listener has accepted the request's own token.
bool IsOwnToken(std::string_view token, const net::HttpRequest& http) {
  constexpr std::string_view kScheme = "bearer ";
  const std::string_view shown = net::FindHeader(http.headers, "Authorization");
  return !token.empty() && shown.size() > kScheme.size() &&
         base::EqualsIgnoreCase(shown.substr(0, kScheme.size()), kScheme) &&
         base::Trim(shown.substr(kScheme.size())) == token;
}

text::Json Owner(const std::string& user) {
  return text::Object{{"username", user},
                      {"groups", text::Array{"system:masters", "system:authenticated"}}};
}

text::Json Verdict(std::string_view kind, const std::string& user, const text::Json& review,
                   const net::HttpRequest& http) {
  if (kind == "TokenReview") {
    if (!IsOwnToken(text::GetString(review, {"spec", "token"}), http)) {
      return text::Object{{"authenticated", false},
                          {"error", "not the token of the embedded cluster"}};
    }
    return text::Object{{"authenticated", true}, {"user", Owner(user)}};
  }
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
  return text::Object{{"userInfo", Owner(user)}};
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
    answer["status"] = Verdict(review.kind, user, *body, http);
    return JsonResponse(201, text::ToJson(answer));
  }
  return std::nullopt;
}

}  // namespace local::server
