// How command lines are spelt, and in which words they are refused: all that differs between the
// programs that muster imitates. FlagParser (cli/flags.h) is the one engine for all of them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cli {

class Flag;

// An error in a command line. The views last as long as the words that were parsed.
struct Refusal {
  enum class Kind {
    kBadSyntax,
    kUnknown,
    kAmbiguous,     // `names` are what it could stand for
    kNeedsValue,    // and none follows
    kTakesNoValue,  // and has one
    kBadValue,      // `why` says what it must be
    kMissing,       // `names` are of the flags that must be set, `flag` is the first
  };
  Kind kind = Kind::kUnknown;
  std::string_view word{};      // as it was typed: "--nproc=2", "-fx"
  std::string_view spelling{};  // of the flag in it: "--nproc", "-x"
  std::string_view shorts{};    // what is left of a word of shorthands: "x"; "" of a long flag
  std::string_view value{};
  const Flag* flag = nullptr;        // nullptr if it is not known
  std::string why{};                 // kUnknown: the name that was meant, "" when none is near
  std::vector<std::string> names{};  // with their dashes, except for kMissing
};

struct Dialect {
  std::string (*refuse)(const Refusal& refusal);
  // Why a value is refused that is not one of the flag's choices.
  std::string (*refuse_choice)(std::string_view value, const std::vector<std::string>& choices);
  bool has_implied_help = false;     // --help and -h, when no flag has the name
  bool abbreviates = false;          // --stand, when it begins one name only
  bool takes_underscores = false;    // --log_dir for --log-dir
  bool bools_take_values = false;    // --wide=false
  bool shorts_take_equals = false;   // -n=x sets x, not "=x"
  bool values_may_be_flags = false;  // --name -x sets "-x"
};

extern const Dialect kPflag;     // Go's, with its libraries' words: Arena, kubectl
extern const Dialect kMuster;    // pflag's, with words for users
extern const Dialect kClick;     // Python's Click 8: `ads`
extern const Dialect kArgparse;  // Python's: torchrun

}  // namespace cli
