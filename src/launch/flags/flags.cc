#include "launch/flags/flags.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/strings.h"
#include "cli/columns.h"
#include "cli/flags.h"
#include "launch/python/numbers.h"

namespace launch {
namespace {

constexpr cli::ColumnLayout kHelpColumns = {
    .gap = 2, .least_left = 28, .widest_left = 28, .width = 80};

tl::unexpected<base::Error> Refuse(std::string message) {
  return base::Fail(base::Code::kInvalidArgument, std::move(message));
}

// Why the value of a number's flag is refused; "" for a number, and for other flags.
std::string NotANumber(const FlagSpec& flag, std::string_view value) {
  if (flag.kind == FlagKind::kInteger && !ParsePythonInt(value)) {
    return fmt::format("invalid int value: '{}'", value);
  }
  if (flag.kind == FlagKind::kReal && !ParsePythonFloat(value)) {
    return fmt::format("invalid float value: '{}'", value);
  }
  return "";
}

std::vector<std::string> ChoicesOf(const FlagSpec& flag) {
  return {flag.choices.begin(), flag.choices.end()};
}

// "a,b,,c" -> "a", "b,c": two commas stand for one in the text.
std::vector<std::string> SplitList(std::string_view text) {
  std::vector<std::string> parts(1);
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != ',') {
      parts.back() += text[i];
    } else if (i + 1 < text.size() && text[i + 1] == ',') {
      parts.back() += ',';
      ++i;
    } else {
      parts.emplace_back();
    }
  }
  std::erase(parts, "");
  return parts;
}

void Store(const FlagSpec& flag, std::string value, CommandLine& line) {
  const std::string name(flag.name);
  line.given[name] = true;
  if (flag.kind == FlagKind::kList) line.lists[name] = SplitList(value);
  line.values[name] = std::move(value);
}

void Declare(const FlagSpec& spec, cli::FlagSet& set, CommandLine& line) {
  const bool is_switch = spec.kind == FlagKind::kSwitch;
  cli::Flag& flag = set.Custom(std::string(spec.name), is_switch ? "" : std::string(spec.value),
                               std::string(spec.help),
                               [&spec, &line, is_switch](std::string_view value) -> base::Status {
                                 if (std::string why = NotANumber(spec, value); !why.empty())
                                   return Refuse(std::move(why));
                                 Store(spec, is_switch ? "1" : std::string(value), line);
                                 return {};
                               });
  flag.Short(spec.shorthand).OneOf(ChoicesOf(spec));
  if (spec.is_ours) flag.Unabbreviated();
  if (spec.is_hidden) flag.Hidden();
}

base::Status ReadArguments(const std::vector<std::string>& args, CommandLine& line) {
  cli::FlagSet set;
  set.Bool(&line.wants_help, "help", false, "").Short('h').Eager();
  set.Bool(&line.wants_version, "version", false, "").Eager().Unabbreviated();
  for (const FlagSpec& spec : AllFlags()) Declare(spec, set, line);
  std::vector<cli::Flag*> flags;
  for (const auto& flag : set.flags()) flags.push_back(flag.get());
  cli::FlagParser parser(std::move(flags), cli::kArgparse);
  TRY_ASSIGN(cli::ParsedArgs parsed, parser.Parse(args, false));
  std::vector<std::string>& words = parsed.positionals;
  if (words.empty()) return {};
  line.has_script = true;
  line.script = words[0];
  // Only the first of the command line is argparse's.
  const bool has_dashes = !parsed.dash && words.size() > 1 && words[1] == "--";
  line.script_args.assign(words.begin() + (has_dashes ? 2 : 1), words.end());
  return {};
}

base::Status ReadVariable(const FlagSpec& flag, const std::string& variable,
                          const std::string& text, CommandLine& line) {
  if (flag.kind == FlagKind::kSwitch) {
    const auto number = ParsePythonInt(text);
    if (!number) {
      return Refuse(
          fmt::format("environment variable {}: invalid int value: '{}'", variable, text));
    }
    Store(flag, *number != 0 ? "1" : "0", line);
    return {};
  }
  std::string why = NotANumber(flag, text);
  // argparse does not compare a default with the choices.
  const auto& choices = flag.choices;
  if (flag.is_ours && !choices.empty() &&
      std::find(choices.begin(), choices.end(), text) == choices.end()) {
    why = cli::kArgparse.refuse_choice(text, ChoicesOf(flag));
  }
  if (!why.empty()) {
    return Refuse(
        fmt::format("argument --{} (environment variable {}): {}", flag.name, variable, why));
  }
  Store(flag, text, line);
  return {};
}

void SetDefaults(CommandLine& line) {
  for (const FlagSpec& flag : AllFlags()) {
    line.values[std::string(flag.name)] = std::string(flag.otherwise);
    if (flag.kind == FlagKind::kList) line.lists[std::string(flag.name)];
  }
}

// Only for flags that the command line does not set: as in argparse, an overridden value may be
// invalid.
base::Status ReadVariables(const base::Environment& environment, CommandLine& line) {
  const auto& values = environment.values();
  for (const FlagSpec& flag : AllFlags()) {
    if (line.IsGiven(flag.name) || !flag.has_variable) continue;
    for (const std::string& variable : {VariableOf(flag), std::string(flag.second_variable)}) {
      const auto found = values.find(variable);
      if (variable.empty() || found == values.end()) continue;
      TRY(ReadVariable(flag, variable, found->second, line));
      break;
    }
  }
  return {};
}

}  // namespace

base::Result<CommandLine> ParseCommandLine(const std::vector<std::string>& args,
                                           const base::Environment& environment) {
  CommandLine line;
  SetDefaults(line);
  TRY(ReadArguments(args, line));
  if (!line.wants_help && !line.wants_version) TRY(ReadVariables(environment, line));
  if (!line.has_script && !line.wants_help && !line.wants_version &&
      !line.IsGiven("print-completion")) {
    return Refuse("the following arguments are required: training_script, training_script_args");
  }
  return line;
}

namespace {

// " (the, choices) [default]".
std::string ValuesText(const FlagSpec& flag) {
  std::string text;
  for (size_t i = 0; i < flag.choices.size(); ++i) {
    text += fmt::format("{}{}", i == 0 ? " (" : ", ", flag.choices[i]);
  }
  if (!flag.choices.empty()) text += ")";
  const bool shows_default = flag.kind != FlagKind::kSwitch && !flag.otherwise.empty();
  return shows_default ? fmt::format("{} [{}]", text, flag.otherwise) : text;
}

}  // namespace

std::string UsageLine(std::string_view program) {
  return fmt::format("usage: {} [-h] [FLAG ...] training_script [script argument ...]\n", program);
}

std::string HelpText(std::string_view program) {
  std::string text = UsageLine(program);
  text += fmt::format(
      "\nStarts, watches and restarts the processes of a distributed PyTorch program,\n"
      "with torchrun's flags. They come before the script; its own words follow it.\n\n"
      "  {0} --nproc-per-node=4 train.py --lr 0.1    4 processes here\n"
      "  {0} --nproc-per-node=gpu -m package.train   one per GPU, a module\n"
      "  {0} --nnodes=2 --node-rank=0 --master-addr=HOST train.py\n"
      "  {0} --nnodes=1:4 --rdzv-backend=c10d --rdzv-endpoint=HOST train.py\n\n"
      "Each flag has a variable, too: PET_MAX_RESTARTS. The command line wins.\n",
      program);
  std::vector<std::pair<std::string, std::string>> rows;
  std::string_view group;
  const auto end_group = [&] {
    if (!rows.empty()) text += fmt::format("\n{}:\n{}", group, cli::InColumns(rows, kHelpColumns));
    rows.clear();
  };
  for (const FlagSpec& flag : AllFlags()) {
    if (flag.is_hidden) continue;
    if (flag.group != group) end_group();
    group = flag.group;
    std::string left = flag.shorthand != 0 ? fmt::format("  -{}, --{}", flag.shorthand, flag.name)
                                           : fmt::format("      --{}", flag.name);
    if (flag.kind != FlagKind::kSwitch) left += fmt::format(" {}", flag.value);
    rows.emplace_back(std::move(left), std::string(flag.help) + ValuesText(flag));
  }
  end_group();
  text +=
      "\nExit code: 0; 2 for a wrong command line; 1 when nothing could be started; else\n"
      "that of the rank that failed first, or 128 + the number of the signal that ended\n"
      "it or the job.\n";
  return text;
}

}  // namespace launch
