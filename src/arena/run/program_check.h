// Whether a program of the caller's folder can start where the job runs it.
#pragma once

#include <string>

#include "arena/folder/local_code.h"
#include "arena/run/program.h"
#include "base/result.h"

namespace arena {

// kInvalidArgument, in one line with what to do, for a script or program that is not in the folder,
// is not among the files that go with the job, is itself a folder, may not be executed, or whose
// lines end as on Windows. Does not check an earlier run's code, or absolute paths. `path`: the
// PATH that the job has, "" when it is unknown; a file of the folder whose bare name PATH does not
// find is an error.
base::Status CheckProgram(const Program& program, const LocalCode& code, bool is_live,
                          const std::string& path);

}  // namespace arena
