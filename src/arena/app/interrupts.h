// What a command says when it has created a job and is then interrupted, or fails.
#pragma once

#include <string>

#include "base/result.h"

namespace arena {

// "The job x keeps running: ..."
std::string RunsOn(const std::string& program, const std::string& job);

// The error of a command that created the job, with the job's existence added to its message.
base::Error AfterCreation(base::Error error, const std::string& program, const std::string& job);

// The exit code of an interrupted command. Under the name `arena` there are only 0 and 1.
int InterruptCode(const std::string& program);

}  // namespace arena
