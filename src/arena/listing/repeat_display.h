// `top -r`: shows the same table every two seconds until the program is ended.
#pragma once

#include <functional>
#include <string_view>

#include "arena/app/app.h"

namespace arena {

// Calls `show` once, or with `repeats` every two seconds; then it also prints a line of `before`,
// the time and `after`, and logs errors of `show`. Returns the error of `show` (without `repeats`)
// or of writing to `out`.
base::Status ShowRepeatedly(const Context& context, cli::Output& out, bool repeats,
                            std::string_view before, std::string_view after,
                            const std::function<base::Status()>& show);

}  // namespace arena
