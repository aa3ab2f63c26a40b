// What Ray Train's driver and its controller say about the workers.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "answers/log/launcher_words.h"

namespace answers {

// The worker whose exception the driver has raised: by its PID or, in version 2, by "[Rank 3 Error
// Snippet]:" (older: "[Rank 3]:", "[Rank 3]"), of which there is one for each exception and the
// ranks that have it. Without a cause in these, the only worker that died. Of the last attempt.
// Nullopt if none of these decides which rank it is. Pure.
std::optional<LauncherRow> ReadRay(const std::vector<std::string_view>& lines);

// Whether Ray Train's controller starts the workers again after this line.
bool IsRestartOfRay(std::string_view line);

// Whether each controller says that its training has finished, which it says only if no worker of
// the last attempt has failed (train/v2/_internal/execution/controller/controller.py), and nothing
// behind that tells of a failure. `sources` are the processes that wrote the lines. Pure.
bool HasFinishedByRay(const std::vector<std::string_view>& lines,
                      const std::vector<std::string_view>& sources);

}  // namespace answers
