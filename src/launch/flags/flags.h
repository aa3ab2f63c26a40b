// torchrun's flags, parsed as Python's argparse does (compat/torchrun.md 2 and 2.1): both spellings
// of a name, unambiguous prefixes, PET_* defaults, everything after the script unchanged.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/environment.h"
#include "base/result.h"

namespace launch {

enum class FlagKind { kSwitch, kText, kInteger, kReal, kList };

// One flag, declared once: parsing, help and completion come from it.
struct FlagSpec {
  std::string_view name{};  // with dashes; the spelling with underscores is accepted, too
  char shorthand = 0;
  FlagKind kind = FlagKind::kText;
  std::string_view value{};                 // the word for its value in help
  std::string_view otherwise{};             // default, as text; "": none
  std::vector<std::string_view> choices{};  // the permitted values, if they are restricted
  std::string_view second_variable{};       // another environment variable, after PET_<NAME>
  bool is_ours = false;                     // not one of torchrun's: cannot be abbreviated
  bool is_hidden = false;
  bool has_variable = true;  // PET_<NAME> sets it
  std::string_view group{};
  std::string_view help{};
};

const std::vector<FlagSpec>& AllFlags();

// PET_ and the upper-case name: "PET_NPROC_PER_NODE".
std::string VariableOf(const FlagSpec& flag);

struct CommandLine {
  // By name; flags that are not set have their defaults.
  std::map<std::string, std::string, std::less<>> values;
  std::map<std::string, std::vector<std::string>, std::less<>> lists;
  // Names that the command line or the environment set.
  std::map<std::string, bool, std::less<>> given;
  bool wants_help = false;
  bool wants_version = false;
  bool has_script = false;
  std::string script;
  std::vector<std::string> script_args;

  const std::string& Text(std::string_view name) const { return values.find(name)->second; }
  bool IsOn(std::string_view name) const { return Text(name) == "1"; }
  bool IsGiven(std::string_view name) const { return given.contains(name); }
};

// `args` without the program's name. kInvalidArgument for what argparse refuses (exit code 2):
// unknown and ambiguous flags, a missing or malformed value, a value that is not one of the
// choices, no script.
base::Result<CommandLine> ParseCommandLine(const std::vector<std::string>& args,
                                           const base::Environment& environment);

// "usage: torchrun [-h] ..." on one line.
std::string UsageLine(std::string_view program);
// The output of --help; ends with a newline.
std::string HelpText(std::string_view program);

}  // namespace launch
