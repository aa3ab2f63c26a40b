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
  std::vector<answers::RankLook> looks;
  std::optional<answers::StallWatch::Testimony> testimony;
  // Of the host it asks for the testimony, and the answer repeats it.
  std::optional<uint64_t> question;
  // Of the host alone.
  std::string line;  // for the user; it describes a stall, or its end
  bool is_over = false;
  // The last look at the rank that its node shall kill for the stall in `line`, unless it has gone
  // on since.
  std::optional<answers::RankLook> killed;
  bool is_final = false;  // and the job shall end
};

// At most Rendezvous::kLongestTold bytes. Says of which ranks it has left something out
// (Testimony::cut, mute).
std::string EncodeNews(const NodeNews& news);
// An error if any part is malformed. What a user may read is one line each, of printable ASCII.
base::Result<NodeNews> DecodeNews(std::string_view text);
// Whether it speaks of ranks of the node with `nproc` ranks from `first_rank` on alone, and its
// looks are those of all of them.
bool IsOf(const NodeNews& news, int first_rank, int nproc);

}  // namespace launch
