// Numbers in the event files that TensorBoard reads (add_scalar). Pure.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace text {

// The last value of each tag. A file is records of length, checksum, protobuf (tensorflow.Event)
// and checksum; one that is cut short, as a writer that was killed leaves it, ends there. The
// checksums are not looked at.
std::map<std::string, double> LastScalars(std::string_view file);

}  // namespace text
