// The progress of a training, as the lines that it prints report it. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace runs {

struct LineProgress {
  std::optional<int64_t> step;
  std::optional<int64_t> steps;  // the total
  std::optional<double> epoch;   // Hugging Face reports fractions
  std::optional<int64_t> epochs;
  std::optional<int64_t> seconds_left;  // from a progress bar
  bool is_bar = false;                  // of tqdm: it recurs again and again, and its steps may
                                        // count anything
  std::string title;                    // of the bar: "Training", "Epoch 3"; "" if it has none
  std::vector<std::pair<std::string, double>> scalars;  // in order, including nan and inf
};

// Reads `step 10 loss 1.2`, `Epoch [1/10], Step [100/600], Loss: 0.2`, `Train Epoch: 1 [640/60000
// (1%)] Loss: 0.4`, `iter 100: loss 2.3`, `step=10 loss=1.2`, {"step": 10, "loss": 1.2} (JSON, or
// as Python prints it), tqdm's and Lightning's bars, Hugging Face's logs. Nullopt for a line
// without a step, epoch or loss, and for one longer than 64 KiB. `line` is of one rank, without its
// prefix and without a carriage return.
std::optional<LineProgress> ProgressIn(std::string_view line);

// Whether its steps may be those of the training; false for bars such as "Downloading", "Map",
// "Evaluating".
bool IsOfTraining(const LineProgress& progress);

}  // namespace runs
