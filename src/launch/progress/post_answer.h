// The launcher's answer to a client that posts the progress of a training (api/status_posts.h).
// Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api/status_posts.h"
#include "net/http/parser.h"
#include "runs/progress/status_post.h"

namespace launch {

// The name of a launch in the path: the launch is the only job of its server.
inline constexpr std::string_view kPostedNamespace = "default";
inline constexpr std::string_view kPostedJob = "launch";

struct PostAnswer {
  std::string bytes;  // a whole HTTP message, after which the connection is closed
  std::optional<runs::StatusPost> post;  // of a successful post
};

// `token`: only clients that send it may post.
PostAnswer AnswerPost(const net::MessageParser::Message& request, std::string_view token);

std::string RefusePost(const api::PostRefusal& refusal);

}  // namespace launch
