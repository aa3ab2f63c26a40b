// Files that somebody else named for the launcher's words on a failure.
#pragma once

#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/environment.h"
#include "base/result.h"

namespace launch {

// Writes in place: /dev/null, /dev/stderr and a pod's /dev/termination-log (a mount) stay what they
// are. Does not wait for the reader of a pipe.
base::Status WriteReport(const std::string& path, std::string_view text);

// An error file's text, as a worker's @record writes it.
std::string ErrorFileText(std::string_view message, base::Time now);

// An error that no worker is the cause of, to TORCHELASTIC_ERROR_FILE, where whoever started the
// launcher looks for why it failed. One that cannot be written is not worth a second error.
void RecordOwnError(const base::Environment& environment, std::string_view message, base::Time now);

}  // namespace launch
