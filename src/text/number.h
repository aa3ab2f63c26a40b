// Formats doubles as Go does, on which Kubernetes' JSON and YAML rely.
#pragma once

#include <string>

#include "text/json.h"

namespace text {

// The shortest text that reads back as `value`, with an exponent only below 1e-6 and from 1e21 on
// (encoding/json); negative zero becomes 0. `value` is finite.
void AppendJsonDouble(std::string& out, double value);

// The integer that AppendJsonDouble's text reads back as; the value itself when it is not an
// integer.
Json WholeAsInteger(const Json& value);

// Go's strconv.FormatFloat(value, 'g', -1, 64 or 32): an exponent below 1e-4 and from 1e6 on.
std::string ShortestG(double value);
std::string ShortestG(float value);

}  // namespace text
