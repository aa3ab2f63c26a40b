#include "arena/app/interrupts.h"

#include <fmt/format.h>

#include "cli/command.h"

namespace arena {

std::string RunsOn(const std::string& program, const std::string& job) {
  return fmt::format(
      "The job {0} keeps running: `{1} logs {0} -f` follows it, `{1} delete {0}` ends it", job,
      program);
}

base::Error AfterCreation(base::Error error, const std::string& program, const std::string& job) {
  error.message += fmt::format("; the job {1} was created, `{0} get {1}` shows it", program, job);
  return error;
}

int InterruptCode(const std::string& program) {
  return program == "arena" ? cli::kExitFailure : cli::kExitInterrupted;
}

}  // namespace arena
