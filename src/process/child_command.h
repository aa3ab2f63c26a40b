// Runs a program to its end and passes its output on line by line.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace process {

struct ChildCommand {
  std::vector<std::string> argv;  // argv[0] is searched in PATH of `env`
  std::vector<std::string> env;   // "NAME=value"
  std::string cwd;
  std::chrono::seconds timeout{0};  // 0: none; at its end the process group is killed
};

// Passes both streams to `on_output`, in pieces that end at a line's end if possible. Returns the
// exit code, 128 + n for signal n. kTimeout when it took too long, kNotFound when there is no such
// program. Blocks; for processes without an event loop.
base::Result<int> RunToEnd(const ChildCommand& command,
                           const std::function<void(std::string_view)>& on_output);

}  // namespace process
