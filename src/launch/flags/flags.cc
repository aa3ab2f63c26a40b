#include "launch/flags/flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/strings.h"
#include "launch/python/numbers.h"

namespace launch {
namespace {

constexpr size_t kHelpColumn = 32;
constexpr size_t kWidestHelp = 100;
constexpr size_t kLargestTypo = 3;

tl::unexpected<base::Error> Refuse(std::string message) {
  return base::Fail(base::Code::kInvalidArgument, std::move(message));
}

std::string WithUnderscores(std::string_view name) {
  std::string spelling(name);
  std::replace(spelling.begin(), spelling.end(), '-', '_');
  return spelling;
}

std::string WithDashes(std::string_view word) {
  std::string name(word);
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

struct Spelling {
  std::string text;
  const FlagSpec* flag;
};

// As in argparse: each spelling of a name counts separately.
const std::vector<Spelling>& AllSpellings() {
  static const std::vector<Spelling> spellings = [] {
    std::vector<Spelling> all;
    for (const FlagSpec& flag : AllFlags()) {
      all.push_back({std::string(flag.name), &flag});
      if (flag.name.find('-') == std::string_view::npos) continue;
      all.push_back({WithUnderscores(flag.name), &flag});
    }
    return all;
  }();
  return spellings;
}

std::string Shown(const FlagSpec& flag) {
  return flag.shorthand != 0 ? fmt::format("-{}/--{}", flag.shorthand, flag.name)
                             : fmt::format("--{}", flag.name);
}

base::Status CheckNumber(const FlagSpec& flag, const std::string& shown, const std::string& value) {
  if (flag.kind == FlagKind::kInteger && !ParsePythonInt(value)) {
    return Refuse(fmt::format("argument {}: invalid int value: '{}'", shown, value));
  }
  if (flag.kind == FlagKind::kReal && !ParsePythonFloat(value)) {
    return Refuse(fmt::format("argument {}: invalid float value: '{}'", shown, value));
  }
  return {};
}

base::Status CheckValue(const FlagSpec& flag, const std::string& shown, const std::string& value) {
  TRY(CheckNumber(flag, shown, value));
  if (!flag.choices.empty() &&
      std::find(flag.choices.begin(), flag.choices.end(), value) == flag.choices.end()) {
    std::vector<std::string> quoted;
    for (const std::string_view choice : flag.choices)
      quoted.push_back(fmt::format("'{}'", choice));
    return Refuse(fmt::format("argument {}: invalid choice: '{}' (choose from {})", shown, value,
                              base::Join(quoted, ", ")));
  }
  return {};
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

class ArgumentReader {
 public:
  ArgumentReader(const std::vector<std::string>& args, CommandLine& line)
      : args_(args), line_(line) {}

  base::Status Read() {
    while (next_ < args_.size()) {
      const std::string& word = args_[next_];
      if (word == "--" && next_ + 1 < args_.size()) {
        ++next_;
        TakeScript();
      } else if (word.starts_with("--")) {
        TRY(ReadLong(word));
      } else if (word.size() > 1 && word[0] == '-') {
        TRY(ReadShort(word));
      } else {
        TakeScript();
      }
      if (line_.wants_help || line_.wants_version) return {};
    }
    return {};
  }

 private:
  void TakeScript() {
    line_.has_script = true;
    line_.script = args_[next_];
    size_t first = next_ + 1;
    if (first < args_.size() && args_[first] == "--") ++first;
    line_.script_args.assign(args_.begin() + static_cast<ptrdiff_t>(first), args_.end());
    next_ = args_.size();
  }

  base::Status ReadLong(const std::string& word) {
    const size_t equals = word.find('=');
    const std::string name = word.substr(2, equals - 2);
    // No other flag of torchrun begins with h.
    if ((!name.empty() && std::string_view("help").starts_with(name)) || name == "version") {
      (name == "version" ? line_.wants_version : line_.wants_help) = true;
      return {};
    }
    TRY_ASSIGN(const FlagSpec* const flag, FindLong(word, name));
    std::optional<std::string> value;
    if (equals != std::string::npos) value = word.substr(equals + 1);
    ++next_;
    return Take(*flag, value);
  }

  base::Status ReadShort(const std::string& word) {
    size_t at = 1;
    ++next_;
    while (at < word.size()) {
      const char letter = word[at++];
      if (letter == 'h') {
        line_.wants_help = true;
        return {};
      }
      const auto& flags = AllFlags();
      const auto flag = std::find_if(flags.begin(), flags.end(), [&](const FlagSpec& candidate) {
        return candidate.shorthand == letter;
      });
      if (flag == flags.end()) return Refuse(fmt::format("unrecognized arguments: {}", word));
      if (flag->kind == FlagKind::kSwitch) {
        TRY(Take(*flag, std::nullopt));
        continue;
      }
      if (at == word.size()) return Take(*flag, std::nullopt);
      if (word[at] == '=') ++at;
      return Take(*flag, word.substr(at));
    }
    return {};
  }

  // An abbreviation must match one spelling of one flag: --nproc matches two, --nproc- and --stan
  // one.
  base::Result<const FlagSpec*> FindLong(const std::string& word, const std::string& name) {
    const FlagSpec* match = nullptr;
    std::vector<std::string> matches;
    for (const Spelling& spelling : AllSpellings()) {
      if (spelling.text == name) return spelling.flag;
      if (spelling.flag->is_ours || name.empty() || !spelling.text.starts_with(name)) continue;
      match = spelling.flag;
      matches.push_back("--" + spelling.text);
    }
    if (matches.size() == 1) return match;
    if (matches.size() > 1) {
      return Refuse(
          fmt::format("ambiguous option: {} could match {}", word, base::Join(matches, ", ")));
    }
    return Refuse(fmt::format("unrecognized arguments: {}{}", word, DidYouMean(name)));
  }

  static std::string DidYouMean(const std::string& name) {
    const std::string dashed = WithDashes(name);
    const FlagSpec* closest = nullptr;
    size_t distance = kLargestTypo + 1;
    for (const FlagSpec& flag : AllFlags()) {
      const size_t edits = base::EditDistance(dashed, flag.name);
      if (edits < distance && !flag.is_hidden) {
        distance = edits;
        closest = &flag;
      }
    }
    return closest == nullptr ? "" : fmt::format(" (did you mean --{}?)", closest->name);
  }

  base::Status Take(const FlagSpec& flag, const std::optional<std::string>& attached) {
    const std::string name(flag.name);
    line_.given[name] = true;
    if (flag.kind == FlagKind::kSwitch) {
      if (attached) {
        return Refuse(
            fmt::format("argument {}: ignored explicit argument '{}'", Shown(flag), *attached));
      }
      line_.values[name] = "1";
      return {};
    }
    if (!attached && (next_ >= args_.size() || LooksLikeFlag(args_[next_]))) {
      return Refuse(fmt::format("argument {}: expected one argument", Shown(flag)));
    }
    const std::string value = attached ? *attached : args_[next_++];
    TRY(CheckValue(flag, Shown(flag), value));
    line_.values[name] = value;
    if (flag.kind == FlagKind::kList) line_.lists[name] = SplitList(value);
    return {};
  }

  // A negative number is a value, and so is a word that contains a blank.
  static bool LooksLikeFlag(std::string_view word) {
    return word.size() > 1 && word[0] == '-' && !ParsePythonFloat(word) &&
           word.find(' ') == std::string_view::npos;
  }

  const std::vector<std::string>& args_;
  CommandLine& line_;
  size_t next_ = 0;
};

base::Status ReadVariable(const FlagSpec& flag, const std::string& variable,
                          const std::string& text, CommandLine& line) {
  const std::string name(flag.name);
  line.given[name] = true;
  if (flag.kind == FlagKind::kSwitch) {
    const auto number = ParsePythonInt(text);
    if (!number) {
      return Refuse(
          fmt::format("environment variable {}: invalid int value: '{}'", variable, text));
    }
    line.values[name] = *number != 0 ? "1" : "0";
    return {};
  }
  const std::string shown = fmt::format("--{} (environment variable {})", flag.name, variable);
  // argparse does not check defaults against the choices.
  TRY(flag.is_ours ? CheckValue(flag, shown, text) : CheckNumber(flag, shown, text));
  line.values[name] = text;
  if (flag.kind == FlagKind::kList) line.lists[name] = SplitList(text);
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
  TRY(ArgumentReader(args, line).Read());
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
      "\nStarts, watches and restarts the processes of a distributed PyTorch program, with\n"
      "torchrun's flags. Flags come before the script; all that follows it is the script's.\n\n"
      "  {0} --nproc-per-node=4 train.py --lr 0.1         4 processes on this machine\n"
      "  {0} --nproc-per-node=gpu -m package.train        one per GPU, a module\n"
      "  {0} --nnodes=2 --node-rank=0 --master-addr=HOST --master-port=29500 train.py\n"
      "  {0} --nnodes=1:4 --rdzv-backend=c10d --rdzv-endpoint=HOST:29400 train.py   elastic\n\n"
      "Flags have variables: --max-restarts is PET_MAX_RESTARTS. The command line wins.\n",
      program);
  std::string_view group;
  for (const FlagSpec& flag : AllFlags()) {
    if (flag.is_hidden) continue;
    if (flag.group != group) text += fmt::format("\n{}:\n", group = flag.group);
    std::string left = flag.shorthand != 0 ? fmt::format("  -{}, --{}", flag.shorthand, flag.name)
                                           : fmt::format("      --{}", flag.name);
    if (flag.kind != FlagKind::kSwitch) left += fmt::format(" {}", flag.value);
    text += left.size() + 2 > kHelpColumn ? fmt::format("{}\n{:<{}}", left, "", kHelpColumn)
                                          : fmt::format("{:<{}}", left, kHelpColumn);
    text += flag.help;
    const std::string values = ValuesText(flag);
    const size_t used = kHelpColumn + flag.help.size() + values.size();
    text += used > kWidestHelp ? fmt::format("\n{:<{}}{}", "", kHelpColumn - 1, values) : values;
    text += "\n";
  }
  text +=
      "\nExit code: 0; 2 for a wrong command line; 1 when nothing could be started; else that of\n"
      "the rank that failed first, or 128 + the number of the signal that ended it or the job.\n";
  return text;
}

}  // namespace launch
