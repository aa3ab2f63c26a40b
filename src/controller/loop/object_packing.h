// Compression of objects that wait in the cache.
#pragma once

#include "text/packing.h"

namespace controller {

// The dictionary of texts that jobs, and projected pods and services, have in common.
const text::Packing& ObjectPacking();

}  // namespace controller
