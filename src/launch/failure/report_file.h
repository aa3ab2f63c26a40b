// Writes a failure to the files that the environment or a flag names.
#pragma once

#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/environment.h"
#include "base/result.h"

namespace launch {

// Writes in place, because /dev/null, /dev/stderr and a pod's /dev/termination-log (a mount) cannot
// be replaced. Does not wait for the reader of a pipe.
base::Status WriteReport(const std::string& path, std::string_view text);

// The text of an error file, as a worker's @record writes it.
std::string ErrorFileText(std::string_view message, base::Time now);

// Writes an error that no worker caused to TORCHELASTIC_ERROR_FILE, for the program that started
// the launcher. A failure to write is ignored.
void RecordOwnError(const base::Environment& environment, std::string_view message, base::Time now);

}  // namespace launch
