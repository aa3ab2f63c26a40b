// Numbers with names in the lines that training programs print.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace text {

// Of `step 10 loss 1.2`, `loss=0.3, acc: 0.9`, `epoch 3/10 val_loss 2e-3`, `{"loss": 0.3}`; in
// their order, nan and inf among them. A name begins with a letter or "_" and goes on with those,
// digits, and "/", "." or "-" inside it. Nothing of a line that is longer than 64 KiB.
std::vector<std::pair<std::string, double>> MetricsOf(std::string_view line);

}  // namespace text
