// Descriptors 0, 1 and 2 of a program whose parent closed some of them.
#pragma once

namespace base {

// Opens the standard descriptors that are closed, so that no file or socket that this program opens
// later takes their numbers and receives what is meant for the user. Reading from one finds the end
// of the file; writing fails with EBADF, as on a closed descriptor. Call it first in main.
void HoldStandardDescriptors();

}  // namespace base
