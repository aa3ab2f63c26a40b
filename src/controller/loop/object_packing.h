// How the texts of objects are packed while they wait to be looked at.
#pragma once

#include "text/packing.h"

namespace controller {

// With what jobs, and projected pods and services, have in common.
const text::Packing& ObjectPacking();

}  // namespace controller
