// Named numbers in the lines that training programs print.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace text {

// Finds `step 10 loss 1.2`, `loss=0.3, acc: 0.9`, `epoch 3/10 val_loss 2e-3`, `{"loss": 0.3}` and
// `{'loss': 0.3}`, and of `loss 1.0 -> 0.1` the later number; returns the numbers in order,
// including nan and inf. A name begins with a letter or "_" and continues with those, digits, and
// "/", "." or "-" inside it. Ignores lines longer than 64 KiB.
std::vector<std::pair<std::string, double>> MetricsOf(std::string_view line);

}  // namespace text
