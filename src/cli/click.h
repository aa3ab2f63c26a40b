// Help and refusals as Click lays them out, for `opctl` (compat/opctl.md 1).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/command.h"
#include "cli/flags.h"

namespace cli {

// A whole number: `'x' is not a valid integer.` otherwise.
Flag& ClickInt(FlagSet& set, int64_t* to, std::string name, int64_t otherwise, std::string usage);

// The texts of one command.
class ClickText {
 public:
  explicit ClickText(const Command& command) : command_(command) {}

  std::string Help() const;
  // The usage line, how to get help, and `Error: <message>`.
  std::string UsageFailure(std::string_view message) const;
  std::string NoSuchCommand(const std::string& name) const;
  // Checks the number of positionals against the names that the command declares.
  base::Status Check(const std::vector<std::string>& positionals) const;

 private:
  std::string UsageLine() const;
  std::string Options() const;
  std::string Commands() const;

  const Command& command_;
};

// A failure in Click's style, for stderr: `<Kind>Error: <message> ` and a newline; without a kind
// it is an `Error`.
std::string ClickFailure(const base::Error& error);

}  // namespace cli
