// Work on many things, shared out among the processors.
#pragma once

#include <cstddef>
#include <functional>

#include "base/result.h"

namespace base {

// Calls `work` for parts that cover 0 to `size`, none smaller than `least` but the last: the first
// part in this thread, each other in one of its own. Blocks until all have ended; the error of the
// first part that has one.
Status ShareWork(size_t size, size_t least,
                 const std::function<Status(size_t from, size_t count)>& work);

}  // namespace base
