// The progress of a training as JSON. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runs/progress/progress_text.h"
#include "text/json.h"

namespace runs {

// {"source", "at", "step", "steps", "epoch", "epochs", "percent", "secondsLeft", "scalars"};
// unknown values are null. A value that is not a number is a string: "nan", "inf", "-inf".
text::Json ProgressToJson(const SourceProgress& progress);

// Sources whose last step differs from that of the first source that has one by more than ten
// steps, and by more than a hundredth of it: both are shown then.
std::vector<SourceProgress> Disagreeing(const std::vector<SourceProgress>& latest);

// As ProgressToJson wrote it; malformed values count as unknown.
SourceProgress ProgressFromJson(const text::Json& json);
// A number, or the string that JSON has in place of NaN and infinity.
text::Json NumberToJson(double value);
std::optional<double> NumberFromJson(const text::Json& value);

}  // namespace runs
