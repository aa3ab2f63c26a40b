// The kinds of training jobs that Arena names, and which of them are muster's.
#pragma once

#include <string_view>

#include "base/result.h"

namespace arena {

// The value of -T/--type: by name, alias or shorthand, any case. True: PyTorch jobs are meant
// ("" means every kind). False: another kind, of which there are never any here. An error has
// Arena's text.
base::Result<bool> MeansPyTorch(std::string_view type);

inline constexpr std::string_view kTrainerUpper = "PYTORCHJOB";
inline constexpr std::string_view kTrainerLower = "pytorchjob";

}  // namespace arena
