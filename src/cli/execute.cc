#include <fmt/format.h>

#include <algorithm>

#include "base/strings.h"
#include "cli/click.h"
#include "cli/command.h"
#include "cli/completion.h"
#include "cli/man.h"

namespace cli {

// Walks the tree for one command line. Lives as long as Execute.
class Executor {
 public:
  Executor(Command& root, Output& out, Output& err) : root_(root), out_(out), err_(err) {}

  Outcome Run(const std::vector<std::string>& args);

 private:
  struct Found {
    Command* command;
    std::vector<std::string> args;  // without the names of commands
    std::string name;               // by which it was called
  };

  void AddStandardCommands();
  void AddHelpFlag(Command& command);
  void AddHelpFlagsBelow(Command& command);
  Found Find(const std::vector<std::string>& args) const;
  std::string Suggest(Command& command, std::string_view name) const;
  base::Status Parse(Command& command, const std::vector<std::string>& args, ParsedArgs* parsed);
  base::Status CheckCall(Command& command, Invocation& call) const;
  Outcome Call(const Found& found, ParsedArgs parsed);
  Outcome CallNothing(Command& command, const ParsedArgs& parsed);
  base::Result<Command*> Topic(const std::vector<std::string>& path) const;
  // Prints help or the version, if it was asked for.
  Outcome Print(std::string_view text) {
    if (base::Status status = out_.Write(text); !status) {
      return {kExitFailure, std::move(status.error())};
    }
    return {};
  }
  Outcome Complete(const std::vector<std::string>& words);
  std::vector<std::string> Candidates(const Found& found, const std::string& word);

  const Dialect& DialectOf(const Command& command) const;
  Outcome UsageFailure(const Command& command, base::Error error);

  Command& root_;
  Output& out_;
  Output& err_;
};

namespace {

// The flag whose value is the next word; nullptr if `word` contains the value, or is not a flag
// that takes one.
const Flag* TakesNext(std::string_view word, const std::vector<Flag*>& flags) {
  const auto found = std::find_if(flags.begin(), flags.end(), [word](const Flag* flag) {
    return !flag->is_bool() && flag->IsSpelt(word);
  });
  return found == flags.end() ? nullptr : *found;
}

template <typename T>
std::vector<T> Joined(std::vector<T> a, const std::vector<T>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

bool IsProgram(std::string_view name) {
  return name.find('/') != std::string_view::npos || name.ends_with(".py") ||
         name.ends_with(".sh") || name.starts_with("python");
}

std::string Described(const std::string& name, const std::string& summary) {
  return summary.empty() ? name : name + "\t" + summary.substr(0, summary.find('\n'));
}

}  // namespace

void Executor::AddStandardCommands() {
  if (root_.children_.empty() && root_.later_.empty()) return;
  // Bound again by each Execute, because they call back into this executor.
  Command* help = root_.FindMade("help");
  if (help == nullptr) help = &root_.Add("help [command]", "Help about any command");
  help->Check([this](Invocation& call) -> base::Status {
    TRY(Topic(call.args));
    return {};
  });
  help->CompleteArgs([this](Invocation& call, std::string_view) {
    std::vector<std::string> names;
    const auto topic = Topic(call.args);
    if (!topic) return names;
    for (const auto& child : (*topic)->children()) {
      if (!child->is_hidden()) names.push_back(Described(child->name(), child->summary()));
    }
    return names;
  });
  help->Run([this](Invocation& call) -> base::Result<int> {
    TRY_ASSIGN(Command * topic, Topic(call.args));
    AddHelpFlag(*topic);
    TRY(out_.Write(topic->HelpText()));
    return 0;
  });
  if (root_.FindMade("completion") == nullptr) AddCompletionCommand(root_);
  Command* complete = root_.FindMade("__complete");
  if (complete == nullptr) complete = &root_.Add("__complete", "").Hidden().RawArgs();
  complete->Run(
      [this](Invocation& call) -> base::Result<int> { return Complete(call.args).exit_code; });
  Command* manual = root_.FindMade("__man");
  if (manual == nullptr) manual = &root_.Add("__man FOLDER", "").Hidden().Args(ExactArgs(1));
  manual->Run([this](Invocation& call) -> base::Result<int> {
    TRY(WriteManual(root_, call.args[0]));
    return 0;
  });
  Command* reference = root_.FindMade("__reference");
  if (reference == nullptr) {
    reference = &root_.Add("__reference FOLDER", "").Hidden().Args(ExactArgs(1));
  }
  reference->Run([this](Invocation& call) -> base::Result<int> {
    AddHelpFlagsBelow(root_);
    TRY(WriteReference(root_, call.args[0]));
    return 0;
  });
}

void Executor::AddHelpFlag(Command& command) {
  if (command.is_raw_ || command.flags_.Find("help") != nullptr) return;
  if (command.is_click()) {
    Flag& help =
        command.flags_.Bool(&command.wants_help_, "help", false, "Show this message and exit.")
            .Eager();
    if (command.has_short_help_) help.Short('h');
    return;
  }
  command.flags_.Bool(&command.wants_help_, "help", false, "help for " + command.name_).Short('h');
}

void Executor::AddHelpFlagsBelow(Command& command) {
  AddHelpFlag(command);
  for (const auto& child : command.children()) AddHelpFlagsBelow(*child);
}

Executor::Found Executor::Find(const std::vector<std::string>& args) const {
  Found found{&root_, {}, {}};
  size_t at = 0;
  for (; at < args.size(); ++at) {
    const std::string& text = args[at];
    if (found.command->is_raw_ || text == "--") break;
    if (text.size() > 1 && text[0] == '-') {
      found.args.push_back(text);
      const bool takes_next = TakesNext(text, Joined(found.command->OwnFlags(),
                                                     found.command->InheritedFlags())) != nullptr;
      if (takes_next && at + 1 < args.size()) found.args.push_back(args[++at]);
      continue;
    }
    Command* child = found.command->FindChild(text);
    if (child == nullptr) break;
    found.command = child;
    found.name = text;
  }
  found.args.insert(found.args.end(), args.begin() + static_cast<ptrdiff_t>(at), args.end());
  (void)found.command->children();  // its help shows them
  return found;
}

std::string Executor::Suggest(Command& command, std::string_view name) const {
  constexpr size_t kFarthest = 2;
  const bool is_arena = command.is_arena();
  const auto synonym = std::find_if(command.synonyms_.begin(), command.synonyms_.end(),
                                    [name](const auto& entry) { return entry.first == name; });
  if (synonym != command.synonyms_.end()) {
    const std::string meant = fmt::format("{} {}", command.Path(), synonym->second);
    return is_arena ? fmt::format("\n\nDid you mean this?\n\t{}\n", meant)
                    : fmt::format(" (did you mean `{}`?)", meant);
  }
  if (!is_arena && !command.runs_programs_.empty() && IsProgram(name)) {
    return fmt::format(" (did you mean `{} {} {}`?)", command.Path(), command.runs_programs_, name);
  }
  std::vector<std::string> near;
  for (const auto& child : command.children()) {
    if (child->is_hidden()) continue;
    const bool is_prefix = base::ToLower(child->name()).starts_with(base::ToLower(name));
    if (is_prefix ||
        base::EditDistance(base::ToLower(name), base::ToLower(child->name())) <= kFarthest) {
      near.push_back(child->name());
    }
  }
  if (near.empty()) return "";
  return is_arena ? fmt::format("\n\nDid you mean this?\n\t{}\n", base::Join(near, "\n\t"))
                  : fmt::format(" (did you mean {}?)", base::Join(near, " or "));
}

const Dialect& Executor::DialectOf(const Command& command) const {
  if (command.is_click()) return kClick;
  return command.is_arena() ? kPflag : kMuster;
}

base::Status Executor::Parse(Command& command, const std::vector<std::string>& args,
                             ParsedArgs* parsed) {
  if (command.is_raw_) {
    parsed->positionals = args;
    return {};
  }
  AddHelpFlag(command);
  FlagParser parser(
      Joined(command.OwnFlags(), command.InheritedFlags()),
      [this](std::string_view line) { (void)err_.Write(fmt::format("{}\n", line)); },
      command.unknown_flag_hint_, DialectOf(command));
  // An unknown command is reported before the flags after it, which would be the command's.
  const bool is_group = !command.children_.empty() && (command.is_click() || !command.run_);
  const bool stops = is_group || (!command.is_click() && command.stops_at_first_arg_);
  TRY_ASSIGN(*parsed, parser.Parse(args, !stops));
  return {};
}

base::Status Executor::CheckCall(Command& command, Invocation& call) const {
  if (command.args_) TRY(command.args_(call));
  TRY(FlagParser(Joined(command.OwnFlags(), command.InheritedFlags()), DialectOf(command))
          .CheckRequired());
  if (command.is_click()) TRY(ClickText(command).Check(call.args));
  std::vector<Command*> line;
  for (Command* at = &command; at != nullptr; at = at->parent_) line.insert(line.begin(), at);
  for (Command* at : line) {
    if (at->before_ && !command.is_click()) TRY(at->before_(call));
  }
  if (command.check_) TRY(command.check_(call));
  return {};
}

// Answers the call of a command that cannot be called by itself.
Outcome Executor::CallNothing(Command& command, const ParsedArgs& parsed) {
  const bool is_click = command.is_click();
  if (!parsed.positionals.empty()) {
    const std::string& name = parsed.positionals[0];
    std::string message = is_click ? ClickText(command).NoSuchCommand(name)
                                   : fmt::format("unknown command \"{}\" for \"{}\"{}", name,
                                                 command.Path(), Suggest(command, name));
    return UsageFailure(command, {base::Code::kInvalidArgument, std::move(message), 0});
  }
  // Help goes to stderr, as in Click since 8.2, because nobody asked for it.
  (void)(is_click ? err_ : out_).Write(command.HelpText());
  return {is_click ? kExitUsage : 0, std::nullopt};
}

Outcome Executor::Call(const Found& found, ParsedArgs parsed) {
  Command& command = *found.command;
  if (parsed.help || command.wants_help_) {
    return Print(command.HelpText());
  }
  if (command.wants_version_) {
    return Print(command.version_ + "\n");
  }
  const bool is_named = !command.alone_alias_.empty() && found.name == command.alone_alias_;
  const bool runs_alone = parsed.positionals.empty() && command.run_alone_ != nullptr &&
                          (is_named || (!command.run_ && out_.IsTerminal()));
  if (!command.run_ && !runs_alone) return CallNothing(command, parsed);
  Invocation call{command, std::move(parsed.positionals), parsed.dash, out_, err_};
  if (base::Status status = is_named && runs_alone ? base::Status() : CheckCall(command, call);
      !status) {
    return UsageFailure(command, std::move(status.error()));
  }
  base::Result<int> code = runs_alone ? command.run_alone_(call) : command.run_(call);
  if (code) return {*code, std::nullopt};
  if (!command.is_click()) return {kExitFailure, std::move(code.error())};
  (void)err_.Write(ClickFailure(code.error()));
  return {kExitFailure, std::nullopt};
}

Outcome Executor::UsageFailure(const Command& command, base::Error error) {
  if (!command.is_click()) return {kExitUsage, std::move(error)};
  (void)err_.Write(ClickText(command).UsageFailure(error.message));
  return {kExitUsage, std::nullopt};
}

base::Result<Command*> Executor::Topic(const std::vector<std::string>& path) const {
  Command* at = &root_;
  for (const std::string& name : path) {
    at = at->FindChild(name);
    if (at == nullptr) {
      return base::Fail(base::Code::kInvalidArgument,
                        fmt::format("Unknown help topic `{}`", base::Join(path, " ")));
    }
  }
  (void)at->children();
  return at;
}

Outcome Executor::Run(const std::vector<std::string>& args) {
  AddStandardCommands();
  const Found found = Find(args);
  ParsedArgs parsed;
  if (base::Status status = Parse(*found.command, found.args, &parsed); !status) {
    return UsageFailure(*found.command, std::move(status.error()));
  }
  return Call(found, std::move(parsed));
}

std::vector<std::string> Executor::Candidates(const Found& found, const std::string& word) {
  AddHelpFlag(*found.command);
  const std::vector<Flag*> flags =
      Joined(found.command->OwnFlags(), found.command->InheritedFlags());
  // The words so far show which command completes. An incomplete line may not parse: the parsed
  // part is enough.
  ParsedArgs parsed;
  (void)Parse(*found.command, found.args, &parsed);
  // A flag here would be another program's.
  const bool is_past_flags = found.command->is_raw_ || parsed.dash ||
                             (found.command->stops_at_first_arg_ && !parsed.positionals.empty());
  const Flag* const asked =
      is_past_flags || found.args.empty() ? nullptr : TakesNext(found.args.back(), flags);
  if (asked != nullptr) return CompleteFlagValue(*asked, word);
  std::vector<std::string> out;
  if (is_past_flags && word.starts_with("-")) return out;
  if (word.starts_with("--") && word.find('=') != std::string::npos) {
    const size_t equals = word.find('=');
    for (const Flag* flag : flags) {
      if (!flag->Matches(word.substr(2, equals - 2))) continue;
      for (const std::string& value : CompleteFlagValue(*flag, word.substr(equals + 1))) {
        out.push_back(word.substr(0, equals + 1) + value);
      }
    }
    return out;
  }
  if (word.starts_with("-")) {
    for (const Flag* flag : flags) {
      if (flag->is_hidden()) continue;
      out.push_back(Described("--" + flag->name(), flag->usage()));
      if (!flag->single_dash().empty()) {
        out.push_back(Described("-" + flag->single_dash(), flag->usage()));
      }
    }
    std::sort(out.begin(), out.end());
    return out;
  }
  for (const auto& child : found.command->children()) {
    if (!child->is_hidden()) out.push_back(Described(child->name(), child->summary()));
  }
  std::sort(out.begin(), out.end());
  if (found.command->complete_) {
    Invocation call{*found.command, std::move(parsed.positionals), parsed.dash, out_, err_};
    for (std::string& value : found.command->complete_(call, word)) {
      const bool is_there = std::find(call.args.begin(), call.args.end(), value) != call.args.end();
      if (!is_there) out.push_back(std::move(value));
    }
  }
  return out;
}

// cobra's protocol: one candidate per line, a tab before its description, finally `:<directive>`.
Outcome Executor::Complete(const std::vector<std::string>& words) {
  constexpr int kDefault = 0;
  constexpr int kNoFiles = 4;
  const std::string word = words.empty() ? "" : words.back();
  const Found found =
      Find(words.empty() ? words : std::vector<std::string>(words.begin(), words.end() - 1));
  std::string text;
  int directive = kDefault;
  for (const std::string& candidate : Candidates(found, word)) {
    if (!candidate.starts_with(word)) continue;
    text += candidate + "\n";
    directive = kNoFiles;
  }
  (void)out_.Write(text + fmt::format(":{}\n", directive));
  return {};
}

Outcome Execute(Command& root, const std::vector<std::string>& args, Output& out, Output& err) {
  return Executor(root, out, err).Run(args);
}

}  // namespace cli
