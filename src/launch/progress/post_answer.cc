#include "launch/progress/post_answer.h"

#include <utility>

#include "base/digest/hmac.h"
#include "net/http/message.h"

namespace launch {
namespace {

std::string ToBytes(int status, std::string_view body) {
  return net::FormatResponseHead(status, {{"Content-Type", "application/json"}},
                                 net::Framing::kLength, body.size(), true) +
         std::string(body);
}

}  // namespace

std::string RefusePost(const api::PostRefusal& refusal) {
  return ToBytes(refusal.status, api::ToBody(refusal));
}

PostAnswer AnswerPost(const net::MessageParser::Message& request, std::string_view token) {
  const auto posted = api::JobOfStatusPost(request.method, request.target);
  if (!posted) return {RefusePost(api::kNoPostPath), {}};
  const std::string_view given =
      api::BearerToken(net::FindHeader(request.headers, "Authorization"));
  if (!base::SameDigest(given, token)) return {RefusePost(api::kPostForbidden), {}};
  if (posted->namespace_name != kPostedNamespace || posted->name != kPostedJob) {
    return {RefusePost(api::kNoPostedJob), {}};
  }
  auto post = runs::ReadStatusPost(request.body);
  if (!post) return {RefusePost(api::InvalidPost(post.error().message)), {}};
  std::string bytes = ToBytes(200, post->answer);
  return {std::move(bytes), std::move(*post)};
}

}  // namespace launch
