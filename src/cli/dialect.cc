#include "cli/dialect.h"

#include <fmt/format.h>

#include "base/strings.h"
#include "cli/flags.h"

namespace cli {
namespace {

using Kind = Refusal::Kind;

std::string Listed(const std::vector<std::string>& values, char quote) {
  std::vector<std::string> quoted;
  for (const std::string& value : values) quoted.push_back(fmt::format("{0}{1}{0}", quote, value));
  return base::Join(quoted, ", ");
}

std::string RefuseInPflagsWords(const Refusal& refusal) {
  const bool is_short = !refusal.shorts.empty();
  switch (refusal.kind) {
    case Kind::kBadSyntax:
      return fmt::format("bad flag syntax: {}", refusal.word);
    case Kind::kUnknown:
      if (is_short) {
        return fmt::format("unknown shorthand flag: '{}' in -{}", refusal.shorts[0],
                           refusal.shorts);
      }
      return fmt::format("unknown flag: {}", refusal.spelling) +
             (refusal.why.empty() ? ""
                                  : fmt::format("\n\nDid you mean this?\n\t--{}\n", refusal.why));
    case Kind::kAmbiguous:
      return fmt::format("ambiguous flag: {}", refusal.spelling);
    case Kind::kNeedsValue:
      return is_short ? fmt::format("flag needs an argument: '{}' in -{}", refusal.shorts[0],
                                    refusal.shorts)
                      : fmt::format("flag needs an argument: {}", refusal.spelling);
    case Kind::kTakesNoValue:
    case Kind::kBadValue: {
      const Flag& flag = *refusal.flag;
      const std::string shown = flag.shorthand() != 0
                                    ? fmt::format("-{}, --{}", flag.shorthand(), flag.name())
                                    : fmt::format("--{}", flag.name());
      return fmt::format("invalid argument {} for \"{}\" flag: {}", GoQuoted(refusal.value), shown,
                         refusal.why);
    }
    case Kind::kMissing:
      break;
  }
  return fmt::format("required flag(s) {} not set", Listed(refusal.names, '"'));
}

// pflag passes on what Go's libraries say about a value.
std::string RefuseInPlainWords(const Refusal& refusal) {
  Refusal plain = refusal;
  const auto end_at = [&plain](std::string_view go, std::string_view words) {
    if (const size_t at = plain.why.rfind(go); at != std::string::npos) {
      plain.why.replace(at, std::string::npos, words);
    }
  };
  if (refusal.kind == Kind::kUnknown && refusal.shorts.empty() && !refusal.why.empty()) {
    return fmt::format("unknown flag: {} (did you mean --{}?)", refusal.spelling, refusal.why);
  }
  if (refusal.kind == Kind::kBadValue) {
    if (plain.why.ends_with("value out of range")) end_at("strconv.ParseInt:", "it is too large");
    end_at("strconv.ParseInt:", "must be a whole number");
    end_at("strconv.ParseBool:", "must be true or false");
    for (const std::string_view go :
         {"time: invalid duration", "time: missing unit", "time: unknown unit"}) {
      end_at(go, "must be a duration such as 90s or 2h30m");
    }
  }
  return RefuseInPflagsWords(plain);
}

// '--framework' / '-f'
std::string ClicksNames(const Flag& flag) {
  std::string text = fmt::format("'--{}'", flag.name());
  if (!flag.single_dash().empty()) text += fmt::format(" / '-{}'", flag.single_dash());
  if (flag.shorthand() != 0) text += fmt::format(" / '-{}'", flag.shorthand());
  return text;
}

std::string RefuseInClicksWords(const Refusal& refusal) {
  switch (refusal.kind) {
    case Kind::kBadSyntax:
    case Kind::kUnknown:
    case Kind::kAmbiguous:
      return fmt::format("No such option '{}'.", refusal.spelling) +
             (refusal.why.empty() ? "" : fmt::format(" Did you mean '--{}'?", refusal.why));
    case Kind::kNeedsValue:
      return fmt::format("Option '{}' requires an argument.", refusal.spelling);
    case Kind::kTakesNoValue:
      return fmt::format("Option '{}' does not take a value.", refusal.spelling);
    case Kind::kBadValue:
      return fmt::format("Invalid value for {}: {}", ClicksNames(*refusal.flag), refusal.why);
    case Kind::kMissing:
      break;
  }
  const auto& choices = refusal.flag->choices();
  return fmt::format("Missing option {}.", ClicksNames(*refusal.flag)) +
         (choices.empty() ? "" : " Choose from:\n\t" + base::Join(choices, ",\n\t"));
}

std::string RefuseInArgparsesWords(const Refusal& refusal) {
  const auto argument = [&refusal](std::string_view why) {
    const Flag& flag = *refusal.flag;
    return flag.shorthand() != 0
               ? fmt::format("argument -{}/--{}: {}", flag.shorthand(), flag.name(), why)
               : fmt::format("argument --{}: {}", flag.name(), why);
  };
  switch (refusal.kind) {
    case Kind::kBadSyntax:
    case Kind::kUnknown:
      return fmt::format("unrecognized arguments: {}", refusal.word) +
             (refusal.why.empty() ? "" : fmt::format(" (did you mean --{}?)", refusal.why));
    case Kind::kAmbiguous:
      return fmt::format("ambiguous option: {} could match {}", refusal.word,
                         base::Join(refusal.names, ", "));
    case Kind::kNeedsValue:
      return argument("expected one argument");
    case Kind::kTakesNoValue:
      return argument(fmt::format("ignored explicit argument '{}'", refusal.value));
    case Kind::kBadValue:
      return argument(refusal.why);
    case Kind::kMissing:
      break;
  }
  return fmt::format("the following arguments are required: {}", base::Join(refusal.names, ", "));
}

std::string RefuseChoice(std::string_view value, const std::vector<std::string>& choices) {
  return fmt::format("'{}' is not one of {}.", value, Listed(choices, '\''));
}

std::string RefuseChoiceAsArgparse(std::string_view value,
                                   const std::vector<std::string>& choices) {
  return fmt::format("invalid choice: '{}' (choose from {})", value, Listed(choices, '\''));
}

}  // namespace

constexpr Dialect kPflag = {.refuse = RefuseInPflagsWords,
                            .refuse_choice = RefuseChoice,
                            .has_implied_help = true,
                            .bools_take_values = true,
                            .shorts_take_equals = true,
                            .values_may_be_flags = true};

constexpr Dialect kMuster = [] {
  Dialect dialect = kPflag;
  dialect.refuse = RefuseInPlainWords;
  return dialect;
}();

constexpr Dialect kClick = {
    .refuse = RefuseInClicksWords, .refuse_choice = RefuseChoice, .values_may_be_flags = true};

constexpr Dialect kArgparse = {.refuse = RefuseInArgparsesWords,
                               .refuse_choice = RefuseChoiceAsArgparse,
                               .abbreviates = true,
                               .takes_underscores = true,
                               .shorts_take_equals = true};

}  // namespace cli
