// Documents without secrets: nobody looks over a shoulder at a terminal for hours, but at a page.
// Pure.
#pragma once

#include "text/json.h"

namespace dashboard {

// Masks in every text of `document` what `explain --bundle` would (arena/history/mask.h), with the
// secrets that `job` has; of a member "env NAME" or "variable NAME" whose name says that it is a
// secret, the value whatever it is.
void MaskSecrets(const text::Json& job, text::Json& document);

}  // namespace dashboard
