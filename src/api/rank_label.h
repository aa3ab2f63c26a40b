// The labels that a launcher in a pod puts before the lines of its ranks.
#pragma once

#include <optional>
#include <string_view>

namespace api {

struct RankLabel {
  std::string_view name;  // "rank3", "local-rank1", "default1"
  int number = 0;
  bool is_local = false;  // of the pod, not of the job
  // A launcher's line "[rank3]:text" ("[default3]:text" by torchrun --tee, of the pod), PyTorch's
  // own
  // "[rank3]: text" or "[rank3] text", or a progress bar as it grows: "[rank3]> 40%|###".
  bool is_bar = false;
  std::string_view text;  // indented as the rank wrote it
};

// The label at the beginning of `line`, which the views point into; nullopt if there is none. Pure.
std::optional<RankLabel> ReadRankLabel(std::string_view line);

}  // namespace api
