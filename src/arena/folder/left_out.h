// What a job misses because it is only in the caller's folder, not in the job's copy of it.
#pragma once

#include <string>
#include <string_view>

namespace arena {

// What to do about the first path in `line` (relative, or in the copy), or about the module that
// Python could not import, that the folder has and its copy lacks; "" if there is none, or if the
// run in `run_folder` (STATE/runs/NAME) has no copy.
std::string AdviceOnLeftOut(const std::string& run_folder, std::string_view line);

}  // namespace arena
