// tqdm's progress bars, and Lightning's, which are drawn alike. Pure.
#pragma once

#include <string_view>

#include "runs/progress/line.h"

namespace runs {

// "Epoch 3:  40%|####      | 40/100 [00:10<00:15, 3.92it/s, loss=0.3]". False when it is not a bar.
bool ReadBar(std::string_view line, LineProgress& progress);

}  // namespace runs
