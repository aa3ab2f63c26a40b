// A tree of commands that behaves like cobra's: aliases, help, suggestions, completion.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "cli/flags.h"
#include "cli/help.h"
#include "cli/terminal.h"

namespace cli {

inline constexpr int kExitFailure = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitInterrupted = 130;

class Command;

// One call of a command.
struct Invocation {
  const Command& command;
  std::vector<std::string> args;  // positionals
  std::optional<size_t> dash;     // how many positionals preceded `--`
  Output& out;
  Output& err;
};

// Its errors are usage errors (exit code 2), so it must not contact or change anything.
using CheckFunction = std::function<base::Status(Invocation&)>;
// Returns the exit code; its errors are failures (exit code 1).
using RunFunction = std::function<base::Result<int>(Invocation&)>;
using ArgCompleter = std::function<std::vector<std::string>(Invocation&, std::string_view prefix)>;

// Checks of the number of positionals; under the name `arena` with cobra's texts.
CheckFunction NoArgs();
CheckFunction ExactArgs(size_t count);
CheckFunction MinArgs(size_t count);
CheckFunction MaxArgs(size_t count);

// Not thread safe; built once, executed once.
class Command {
 public:
  // `use` begins with the name: "get JOB".
  Command(std::string use, std::string summary);

  Command& Aliases(std::vector<std::string> aliases);
  // Other programs' names for commands below this one: {"kill", "stop"}. They are not accepted, but
  // the user is told the right name.
  // Lives as long as the command.
  Command& Synonyms(std::span<const std::pair<std::string_view, std::string_view>> synonyms);
  // Takes the long help and the examples from a page beside the verb's source, which is read only
  // when they are shown: HelpPageOf (cli/help.h). Goes before Long and Example.
  Command& Help(std::string page, std::string program);
  Command& Long(std::string text);
  Command& Example(std::string text);
  Command& Hidden();
  // Checked in this order: Args, required flags, every Before from the root down, Check; then Run.
  Command& Args(CheckFunction check);
  Command& Before(CheckFunction before);
  Command& Check(CheckFunction check);
  Command& Run(RunFunction run);
  // Root only: adds --version, which prints `text` and a newline.
  Command& Version(std::string text);
  Command& CompleteArgs(ArgCompleter completer);
  // Everything after the command's name is a positional, including flags.
  Command& RawArgs();
  // The first positional ends the flags.
  Command& StopAtFirstArg();
  // Added to the error about an unknown flag that follows a positional.
  Command& UnknownFlagHint(std::string text);
  // Root only: the command that runs programs. It is named to whoever gives a program where a
  // command stands (train.py, ./a.sh, python).
  Command& RunsPrograms(std::string command);
  // This command and those below are parsed, explained and refused in Click's style (cli/click.h).
  // Flags of the commands above do not apply to them.
  Command& ClickStyle();
  // In Click's style: the names of the positionals as the usage line shows them, "[IMAGE]" for an
  // optional one, "OCID..." for at least one; additional ones are refused.
  Command& ClickArgs(std::vector<std::string> names);
  // Help shows these children under this heading, in this order, and all others after the groups.
  Command& Group(std::string heading, std::vector<std::string> names);
  // What a call without a command does on a terminal, instead of showing help.
  Command& RunAlone(RunFunction run);
  // What a call by this alias does without positionals, in place of the command's own checks.
  Command& CalledAlone(std::string alias, RunFunction run);
  // In Click's style: -h is not a flag of this command.
  Command& WithoutShortHelp();

  // The new child; valid while this command lives.
  Command& Add(std::string use, std::string summary);
  // Calls `add`, which adds the child `name` or something to it, when that child is first looked
  // for, or all are, as for an alias: a call needs only the command that it names, and the flags of
  // all commands take longer than many commands do. Those of one name are called in this order;
  // without a name, `add` is called when all children are looked for.
  void AddLater(std::string_view name, std::function<void(Command& parent)> add);

  FlagSet& flags() { return flags_; }                  // this command only
  FlagSet& persistent_flags() { return persistent_; }  // this command and those below

  const std::string& name() const { return name_; }
  const std::string& use() const { return use_; }
  const std::string& summary() const { return summary_; }
  Command* parent() const { return parent_; }
  // All of them: makes what was to be added later.
  const std::vector<std::unique_ptr<Command>>& children();
  bool is_hidden() const { return is_hidden_; }
  bool is_runnable() const { return static_cast<bool>(run_); }
  bool is_click() const { return is_click_ || (parent_ != nullptr && parent_->is_click()); }
  bool is_arena() const;        // the program was called by the name `arena`
  std::string Path() const;     // "muster submit pytorchjob"
  std::string UseLine() const;  // "muster get JOB [flags]"
  // Both know the children that are made.
  std::string HelpText() const;  // ends with a newline
  std::string ManPage() const;   // section 1, in man's macros (cli/man.cc)
  // Whether the command line set a flag that is visible here.
  bool Changed(std::string_view flag) const;
  // By name or alias; nullptr when absent.
  Command* FindChild(std::string_view name);

 private:
  friend class Executor;
  friend class ClickText;

  struct Later {
    std::string_view name;
    std::function<void(Command&)> add;
  };

  Command* FindMade(std::string_view name) const;
  // Calls those that `is_wanted` chooses.
  void Make(const std::function<bool(const Later&)>& is_wanted);
  std::vector<Flag*> OwnFlags() const;        // without inherited ones
  std::vector<Flag*> InheritedFlags() const;  // nearest first
  std::string UsageText() const;
  std::string ChildrenText() const;  // the headings and the commands below them
  HelpPage Page() const;             // Help's, else of Long and Example

  std::string name_;
  std::string use_;
  std::string summary_;
  HelpPage own_page_;  // Long and Example
  std::string page_;   // Help's; "" without
  std::string page_program_;
  std::string version_;
  std::string unknown_flag_hint_;
  std::string runs_programs_;
  std::vector<std::string> aliases_;
  std::vector<std::unique_ptr<Command>> children_;
  std::vector<Later> later_;
  Command* parent_ = nullptr;
  FlagSet flags_;
  FlagSet persistent_;
  CheckFunction args_;
  CheckFunction before_;
  CheckFunction check_;
  RunFunction run_;
  RunFunction run_alone_;
  std::string alone_alias_;  // only by this name; "" where it has no other run_
  std::vector<std::pair<std::string, std::vector<std::string>>> groups_;
  ArgCompleter complete_;
  std::span<const std::pair<std::string_view, std::string_view>> synonyms_;
  bool is_hidden_ = false;
  bool is_raw_ = false;
  std::vector<std::string> click_args_;
  bool stops_at_first_arg_ = false;
  bool is_click_ = false;
  bool has_short_help_ = true;
  bool wants_help_ = false;
  bool wants_version_ = false;
};

struct Outcome {
  int exit_code = 0;
  std::optional<base::Error> error;  // to be printed by the caller; may have several lines
};

// Finds the command that `args` (without the program's name) names, parses, checks and runs it.
// Adds `help`, `completion` and the hidden `__complete` to the root, and -h to each command. Help
// and completions go to `out`, deprecation messages to `err`.
Outcome Execute(Command& root, const std::vector<std::string>& args, Output& out, Output& err);

}  // namespace cli
