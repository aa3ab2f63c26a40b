// What the launcher answers who posts how far a training is (api/status_posts.h). Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api/status_posts.h"
#include "net/http/parser.h"
#include "runs/progress/status_post.h"

namespace launch {

// What a launch is called in the path: it is the only job of its server.
inline constexpr std::string_view kPostedNamespace = "default";
inline constexpr std::string_view kPostedJob = "launch";

struct PostAnswer {
  std::string bytes;  // a whole HTTP message, after which the connection is closed
  std::optional<runs::StatusPost> post;  // of a success
};

// `token`: only who sends it may post.
PostAnswer AnswerPost(const net::MessageParser::Message& request, std::string_view token);

std::string RefusePost(const api::PostRefusal& refusal);

}  // namespace launch
