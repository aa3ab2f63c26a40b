// How far a training is, as JSON. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runs/progress/progress_text.h"
#include "text/json.h"

namespace runs {

// {"source", "at", "step", "steps", "epoch", "epochs", "percent", "secondsLeft", "scalars"}; what
// is not known is null. A value that is not a number is a text: "nan", "inf", "-inf".
text::Json ProgressToJson(const SourceProgress& progress);

// Sources whose last step is more than a hundredth of the way, and more than ten steps, from that
// of the first that tells one: two that disagree are both shown.
std::vector<SourceProgress> Disagreeing(const std::vector<SourceProgress>& latest);

// As ProgressToJson wrote it; what is malformed is not known.
SourceProgress ProgressFromJson(const text::Json& json);
// A number, or the text that JSON has in place of what is none.
text::Json NumberToJson(double value);
std::optional<double> NumberFromJson(const text::Json& value);

}  // namespace runs
