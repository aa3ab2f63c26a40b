// Masks secrets in documents, because a page may stay visible to others for hours. Pure.
#pragma once

#include "text/json.h"

namespace dashboard {

// Masks in every text of `document` what `explain --bundle` would (arena/history/mask.h), including
// the secrets of `job`. Masks the whole value of a member "env NAME" or "variable NAME" whose name
// indicates a secret.
void MaskSecrets(const text::Json& job, text::Json& document);

}  // namespace dashboard
