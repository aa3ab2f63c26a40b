// Flags, help and refusals in the style of Click, for `opctl` (compat/opctl.md 1): the same
// declarations as in pflag's style, plus long names with a single dash.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/command.h"
#include "cli/flags.h"

namespace cli {

// Parses as Click 8 does: --x v, --x=v, -xv, -x v, -long v, -long=v, combined shorts, --,
// interspersed positionals. Errors have Click's texts. Abbreviations are not accepted.
class ClickParser {
 public:
  explicit ClickParser(std::vector<Flag*> flags) : flags_(std::move(flags)) {}

  // With `interspersed` false the first positional ends the flags. Required flags are checked at
  // the end, unless help was requested.
  base::Result<ParsedArgs> Parse(const std::vector<std::string>& args, bool interspersed);

 private:
  struct Cursor {
    const std::vector<std::string>& args;
    size_t next = 0;
  };
  base::Status ParseOption(const std::string& text, Cursor& cursor);
  base::Status ParseShorts(const std::string& text, Cursor& cursor);
  base::Status TakeValue(Flag& flag, std::string_view spelling, Cursor& cursor);
  base::Status Set(Flag& flag, std::string_view value);
  base::Error NoSuchOption(std::string_view spelling) const;
  Flag* FindLong(std::string_view spelling) const;
  Flag* FindShort(char shorthand) const;

  std::vector<Flag*> flags_;
};

// An integer: otherwise `'x' is not a valid integer.`
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
