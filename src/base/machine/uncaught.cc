#include "base/machine/uncaught.h"

#include <unistd.h>

#include <cstdlib>
#include <new>
#include <system_error>

#include "base/log.h"

namespace base {
namespace {

void (*also_say)(const std::string& line) = nullptr;
std::terminate_handler handler_before = nullptr;  // says what it was, and aborts

void ReportAndExit() {
  const std::string limit = LimitOf(std::current_exception());
  if (limit.empty() && handler_before != nullptr) handler_before();
  if (limit.empty()) std::abort();
  LogError("{}", limit);
  if (also_say != nullptr) also_say(limit);
  ::_exit(EXIT_FAILURE);
}

}  // namespace

std::string LimitOf(const std::exception_ptr& exception) {
  if (!exception) return "";
  try {
    std::rethrow_exception(exception);
  } catch (const std::system_error& error) {
    if (error.code() != std::errc::resource_unavailable_try_again) return "";
    return "no further thread can be started: the limit of processes (ulimit -u, or a "
           "container's), or of memory (ulimit -v), is reached";
  } catch (const std::bad_alloc&) {
    return "out of memory: the machine's, or what this process may use (ulimit -v), is used up";
  } catch (...) {
    return "";
  }
}

void ReportUncaughtLimits(void (*say)(const std::string& line)) {
  also_say = say;
  const std::terminate_handler before = std::set_terminate(ReportAndExit);
  if (before != ReportAndExit) handler_before = before;
}

}  // namespace base
