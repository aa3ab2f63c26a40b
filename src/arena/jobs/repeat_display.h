// The -r of `top`: the same again every two seconds, until the program is ended.
#pragma once

#include <functional>
#include <string_view>

#include "arena/app/app.h"

namespace arena {

// Calls `show` and, where `again` is set, prints `before` + the time + `after` as a line, waits two
// seconds and begins anew; an error of `show` is logged then. Without `again`: show() once. Ends
// with an error when nothing can be written any more.
base::Status ShowAgain(const Context& context, cli::Output& out, bool again,
                       std::string_view before, std::string_view after,
                       const std::function<base::Status()>& show);

}  // namespace arena
