// Notices in the output of a program that its loss has become NaN or infinite.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace answers {

// A number whose name ends with or contains "loss" is NaN or infinite: `{'loss': nan}`,
// `val_loss=inf`.
bool HasLostLoss(std::string_view line);

// For one stream, as it is read. Not thread safe.
class LossWatch {
 public:
  // The first line with such a loss that these bytes complete. Ignores lines that are longer than
  // 64 KiB.
  std::optional<std::string> Add(std::string_view bytes);

 private:
  std::string held_;  // the line that has not ended
};

}  // namespace answers
