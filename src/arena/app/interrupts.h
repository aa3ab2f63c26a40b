// The message and exit code of an interrupted command that has created a job.
#pragma once

#include <string>

namespace arena {

// "The job x runs on: ..."
std::string RunsOn(const std::string& program, const std::string& job);

// Under the name `arena` there are only 0 and 1.
int InterruptCode(const std::string& program);

}  // namespace arena
