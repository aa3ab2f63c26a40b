// What a command that makes a job says when it is interrupted, and ends with.
#pragma once

#include <string>

namespace arena {

// "The job x runs on: ..."
std::string RunsOn(const std::string& program, const std::string& job);

// Arena knows 0 and 1 only.
int InterruptCode(const std::string& program);

}  // namespace arena
