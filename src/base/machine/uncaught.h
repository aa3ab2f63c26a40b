// What is said when an exception ends the program.
#pragma once

#include <exception>
#include <string>

namespace base {

// Which limit of the machine was reached, for an exception of a thread that could not be started or
// of memory that ran out; "" for any other.
std::string LimitOf(const std::exception_ptr& exception);

// From here on, an exception that nobody catches and that LimitOf knows ends the program with exit
// code 1 and one line of the log, in place of an abort. `say` gets that line, too. Others are
// reported as before. Of several calls the last one counts.
void ReportUncaughtLimits(void (*say)(const std::string& line) = nullptr);

}  // namespace base
