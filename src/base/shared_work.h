// Distributes work on many items among the processors.
#pragma once

#include <cstddef>
#include <functional>

#include "base/result.h"

namespace base {

// Calls `work` for ranges that cover 0 to `size`, each at least `least` long except the last: the
// first range on this thread, each other on a thread of its own. Blocks until all have ended;
// returns the error of the first range that has one.
Status ShareWork(size_t size, size_t least,
                 const std::function<Status(size_t from, size_t count)>& work);

}  // namespace base
