#include "answers/rule.h"

namespace answers {

// Before the GPU's: PyTorch's check of what collectives get is an assertion in a kernel.
std::vector<Rule> NanRules() {
  return {
      {.kind = "nan",
       .title = "a number became NaN or infinite",
       .advice = Advice::kFixFirst,
       .advice_text = "Lower the learning rate, clip gradients, look at the data of that step. A "
                      "retry gives the same.",
       .exceptions = {"returned nan values in its",
                      "^FloatingPointError",
                      "*Error: *Loss is nan",
                      "*Error: *loss is nan",
                      "*Error: *Loss is NaN",
                      "*Error: *NaN loss",
                      "is non-finite, so it cannot be clipped",
                      "Input contains NaN",
                      "found invalid values:\ntensor",
                      "loss became NaN",
                      "oss is not finite",
                      "on-finite loss",
                      "oss is infinite or ",
                      "loss is NaN",
                      "probability tensor contains either `inf`, `nan`",
                      "Unexpected result nan",
                      "Unexpected result inf",
                      "found NaN in ",
                      "infinite or NaN",
                      "Detected nan and/or inf values in",
                      "The loss returned in `training_step` is",
                      "must not contain infs or NaNs",
                      "the input matrix contained non-finite values",
                      "Current loss scale already at minimum",
                      "cannot convert float NaN to integer",
                      "cannot convert float infinity to integer",
                      "contains NaN",
                      "contains infinity",
                      "NaN detected",
                      "NaNs detected",
                      "Error: *NaN in ",
                      "Error: *NaN or ",
                      "Error: *nan loss",
                      "Error: *oss became nan",
                      "Error: *oss diverged",
                      "ound Inf in "},
       .lines = {"Assertion `probability tensor contains", "NanCheck.cu:*Assertion `*` failed",
                 ": a loss is not a number any more: ", "Loss is nan, stopping training",
                 "Loss is inf, stopping training", "Current loss scale already at minimum"}},
  };
}

}  // namespace answers
