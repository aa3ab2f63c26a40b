// What the agents of several nodes tell each other about ranks that may hold the others up: each
// tells the host once a second what its ranks do, and the host judges. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "answers/stall/stall.h"
#include "base/result.h"

namespace launch {

struct NodeNews {
  int node = 0;  // the sender's node rank
  std::vector<answers::RankLook> looks;
  std::optional<answers::StallWatch::Testimony> testimony;
  // Of the host alone.
  bool asks = false;  // for the testimony
  std::string line;   // for the user; it describes a stall, or its end
  bool is_over = false;
  std::optional<int> killed;  // the rank whose node shall kill it for the stall in `line`
};

// Leaves out what would make the text too long for a message.
std::string EncodeNews(const NodeNews& news);
base::Result<NodeNews> DecodeNews(std::string_view text);

}  // namespace launch
