// Text of doubles as Go prints them, on which Kubernetes' JSON and YAML rest.
#pragma once

#include <string>

#include "text/json.h"

namespace text {

// The shortest text that reads back as `value`, with an exponent only below 1e-6 and from 1e21 on
// (encoding/json); the negative zero is 0. `value` is finite.
void AppendJsonDouble(std::string& out, double value);

// The integer that the text above reads back as; the value itself when that is none.
Json WholeAsInteger(const Json& value);

// Go's strconv.FormatFloat(value, 'g', -1, 64 or 32): an exponent below 1e-4 and from 1e6 on.
std::string ShortestG(double value);
std::string ShortestG(float value);

}  // namespace text
