// Runs a short program and returns its output: `git rev-parse HEAD`.
#pragma once

#include <string>
#include <vector>

#include "base/environment.h"
#include "base/result.h"

namespace process {

struct ProgramOutput {
  int exit_code = 0;  // 128 + n when signal n ended it
  std::string out;
  std::string err;
};

// Runs argv[0], searched in PATH of `environment`, without input. Blocks until it has ended.
// kNotFound when there is no such program.
base::Result<ProgramOutput> OutputOf(const std::vector<std::string>& argv,
                                     const base::Environment& environment);

}  // namespace process
