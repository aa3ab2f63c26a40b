#include "cli/command.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/strings.h"
#include "cli/click.h"

namespace cli {
namespace {

base::Status Refuse(std::string message) {
  return base::Fail(base::Code::kInvalidArgument, std::move(message));
}

std::string_view TrimEnd(std::string_view text) {
  while (!text.empty() && (text.back() == ' ' || text.back() == '\n')) text.remove_suffix(1);
  return text;
}

std::string WithoutBlankEnd(std::string text) {
  text.resize(TrimEnd(text).size());
  return text;
}

// The name of the positional at `index` as the usage line shows it.
std::string PositionalOf(const std::string& use, size_t index) {
  const std::vector<std::string> words = base::Split(use, ' ');
  return index + 1 < words.size() ? words[index + 1] : words.back();
}

base::Status RefuseMissing(const Invocation& call) {
  const Command& command = call.command;
  return Refuse(fmt::format("{} is missing: {}", PositionalOf(command.use(), call.args.size()),
                            command.UseLine()));
}

base::Status RefuseExtra(const Invocation& call, size_t most) {
  return Refuse(
      fmt::format("\"{}\" is one argument too many: {}", call.args[most], call.command.UseLine()));
}

}  // namespace

CheckFunction NoArgs() {
  return [](Invocation& call) -> base::Status {
    if (call.args.empty()) return {};
    if (!call.command.is_arena()) return RefuseExtra(call, 0);
    return Refuse(
        fmt::format("unknown command \"{}\" for \"{}\"", call.args[0], call.command.Path()));
  };
}

CheckFunction ExactArgs(size_t count) {
  return [count](Invocation& call) -> base::Status {
    if (call.args.size() == count) return {};
    if (!call.command.is_arena()) {
      return call.args.size() < count ? RefuseMissing(call) : RefuseExtra(call, count);
    }
    return Refuse(fmt::format("accepts {} arg(s), received {}", count, call.args.size()));
  };
}

CheckFunction MinArgs(size_t count) {
  return [count](Invocation& call) -> base::Status {
    if (call.args.size() >= count) return {};
    if (!call.command.is_arena()) return RefuseMissing(call);
    return Refuse(
        fmt::format("requires at least {} arg(s), only received {}", count, call.args.size()));
  };
}

CheckFunction MaxArgs(size_t count) {
  return [count](Invocation& call) -> base::Status {
    if (call.args.size() <= count) return {};
    if (!call.command.is_arena()) return RefuseExtra(call, count);
    return Refuse(fmt::format("accepts at most {} arg(s), received {}", count, call.args.size()));
  };
}

Command::Command(std::string use, std::string summary)
    : name_(use.substr(0, use.find(' '))), use_(std::move(use)), summary_(std::move(summary)) {}

Command& Command::Aliases(std::vector<std::string> aliases) {
  aliases_ = std::move(aliases);
  return *this;
}
Command& Command::Synonyms(
    std::span<const std::pair<std::string_view, std::string_view>> synonyms) {
  synonyms_ = synonyms;
  return *this;
}

Command& Command::Help(std::string page, std::string program) {
  page_ = std::move(page);
  page_program_ = std::move(program);
  return *this;
}
HelpPage Command::Page() const {
  return page_.empty() ? own_page_ : HelpPageOf(page_, page_program_);
}
Command& Command::Long(std::string text) {
  own_page_.text = std::move(text);
  return *this;
}
Command& Command::Example(std::string text) {
  own_page_.example = std::move(text);
  return *this;
}
Command& Command::Hidden() {
  is_hidden_ = true;
  return *this;
}
Command& Command::Args(CheckFunction check) {
  args_ = std::move(check);
  return *this;
}
Command& Command::Before(CheckFunction before) {
  before_ = std::move(before);
  return *this;
}
Command& Command::Check(CheckFunction check) {
  check_ = std::move(check);
  return *this;
}
Command& Command::Run(RunFunction run) {
  run_ = std::move(run);
  return *this;
}
Command& Command::Version(std::string text) {
  version_ = std::move(text);
  if (flags_.Find("version") == nullptr) {
    flags_.Bool(&wants_version_, "version", false, "version for " + name_).Short('v');
  }
  return *this;
}
Command& Command::CompleteArgs(ArgCompleter completer) {
  complete_ = std::move(completer);
  return *this;
}
Command& Command::RawArgs() {
  is_raw_ = true;
  return *this;
}

Command& Command::StopAtFirstArg() {
  stops_at_first_arg_ = true;
  return *this;
}
Command& Command::UnknownFlagHint(std::string text) {
  unknown_flag_hint_ = std::move(text);
  return *this;
}

Command& Command::RunsPrograms(std::string command) {
  runs_programs_ = std::move(command);
  return *this;
}

Command& Command::ClickStyle() {
  is_click_ = true;
  return *this;
}
Command& Command::ClickArgs(std::vector<std::string> names) {
  click_args_ = std::move(names);
  return *this;
}
Command& Command::WithoutShortHelp() {
  has_short_help_ = false;
  return *this;
}

Command& Command::Group(std::string heading, std::vector<std::string> names) {
  groups_.emplace_back(std::move(heading), std::move(names));
  return *this;
}
Command& Command::RunAlone(RunFunction run) {
  run_alone_ = std::move(run);
  return *this;
}

Command& Command::CalledAlone(std::string alias, RunFunction run) {
  alone_alias_ = std::move(alias);
  return RunAlone(std::move(run));
}

Command& Command::Add(std::string use, std::string summary) {
  auto child = std::make_unique<Command>(std::move(use), std::move(summary));
  child->parent_ = this;
  return *children_.emplace_back(std::move(child));
}

void Command::AddLater(std::string_view name, std::function<void(Command& parent)> add) {
  later_.push_back({name, std::move(add)});
}

void Command::Make(const std::function<bool(const Later&)>& is_wanted) {
  const auto wanted = std::stable_partition(later_.begin(), later_.end(), std::not_fn(is_wanted));
  const std::vector<Later> making(std::make_move_iterator(wanted),
                                  std::make_move_iterator(later_.end()));
  later_.erase(wanted, later_.end());
  for (const Later& later : making) later.add(*this);
}

const std::vector<std::unique_ptr<Command>>& Command::children() {
  Make([](const Later&) { return true; });
  return children_;
}

Command* Command::FindMade(std::string_view name) const {
  for (const auto& child : children_) {
    if (child->name_ == name ||
        std::find(child->aliases_.begin(), child->aliases_.end(), name) != child->aliases_.end()) {
      return child.get();
    }
  }
  return nullptr;
}

Command* Command::FindChild(std::string_view name) {
  if (!name.empty()) Make([name](const Later& later) { return later.name == name; });
  if (Command* const made = FindMade(name)) return made;
  Make([](const Later&) { return true; });
  return FindMade(name);
}

std::string Command::Path() const {
  return parent_ == nullptr ? name_ : parent_->Path() + " " + name_;
}

std::vector<Flag*> Command::OwnFlags() const {
  std::vector<Flag*> flags;
  for (const FlagSet* set : {&flags_, &persistent_}) {
    for (const auto& flag : set->flags()) flags.push_back(flag.get());
  }
  return flags;
}

std::vector<Flag*> Command::InheritedFlags() const {
  std::vector<Flag*> flags;
  if (is_click()) return flags;
  for (const Command* at = parent_; at != nullptr; at = at->parent_) {
    for (const auto& flag : at->persistent_.flags()) flags.push_back(flag.get());
  }
  return flags;
}

bool Command::Changed(std::string_view name) const {
  for (const auto& flags : {OwnFlags(), InheritedFlags()}) {
    for (const Flag* flag : flags) {
      if (flag->Matches(name)) return flag->changed();
    }
  }
  return false;
}

bool Command::is_arena() const {
  return parent_ != nullptr ? parent_->is_arena() : name_ == "arena";
}

std::string Command::UseLine() const {
  std::string line = parent_ == nullptr ? use_ : parent_->Path() + " " + use_;
  const bool says_flags = base::ToLower(use_).find("[flags]") != std::string::npos;
  if (!is_raw_ && !says_flags) line += " [flags]";
  return line;
}

std::string Command::ChildrenText() const {
  std::vector<const Command*> rest;
  size_t widest = 11;
  for (const auto& child : children_) {
    if (child->is_hidden_) continue;
    rest.push_back(child.get());
    widest = std::max(widest, child->name_.size());
  }
  std::sort(rest.begin(), rest.end(),
            [](const Command* a, const Command* b) { return a->name_ < b->name_; });
  std::string out;
  const auto add = [&](const Command& child) {
    out += fmt::format("\n  {:<{}} {}", child.name_, widest, child.summary_);
  };
  for (const auto& [heading, names] : groups_) {
    out += fmt::format("\n\n{}:", heading);
    for (const std::string& name : names) {
      const auto found = std::find_if(rest.begin(), rest.end(),
                                      [&](const Command* at) { return at->name_ == name; });
      if (found == rest.end()) continue;
      add(**found);
      rest.erase(found);
    }
  }
  if (rest.empty()) return out;
  out += groups_.empty() ? "\n\nAvailable Commands:" : "\n\nOther Commands:";
  for (const Command* child : rest) add(*child);
  return out;
}

// The layout of cobra's default usage template.
std::string Command::UsageText() const {
  const bool has_children = std::any_of(children_.begin(), children_.end(),
                                        [](const auto& child) { return !child->is_hidden_; });
  std::string out = "Usage:";
  if (is_runnable()) out += "\n  " + UseLine();
  if (has_children) out += fmt::format("\n  {} [command]", Path());
  if (!aliases_.empty()) {
    out += fmt::format("\n\nAliases:\n  {}, {}", name_, base::Join(aliases_, ", "));
  }
  const std::string example = Page().example;
  if (!example.empty()) out += fmt::format("\n\nExamples:\n{}", TrimEnd(example));
  if (has_children) out += ChildrenText();
  const std::vector<Flag*> own = OwnFlags();
  // By heading, in the order of declaration; flags without a heading come first.
  std::vector<std::string> headings = {""};
  for (const Flag* flag : own) {
    if (std::find(headings.begin(), headings.end(), flag->group()) == headings.end()) {
      headings.push_back(flag->group());
    }
  }
  for (const std::string& heading : headings) {
    std::vector<const Flag*> below;
    std::copy_if(own.begin(), own.end(), std::back_inserter(below),
                 [&](const Flag* flag) { return flag->group() == heading; });
    if (below.empty()) continue;
    out += fmt::format("\n\n{}:\n{}", heading.empty() ? "Flags" : heading,
                       WithoutBlankEnd(FlagUsages(below)));
  }
  const std::vector<Flag*> inherited = InheritedFlags();
  if (!inherited.empty()) {
    out +=
        "\n\nGlobal Flags:\n" + WithoutBlankEnd(FlagUsages({inherited.begin(), inherited.end()}));
  }
  if (has_children) {
    out += fmt::format("\n\nUse \"{} [command] --help\" for more information about a command.",
                       Path());
  }
  return out + '\n';
}

std::string Command::HelpText() const {
  if (is_click()) return ClickText(*this).Help();
  const std::string page = Page().text;
  const std::string_view text = TrimEnd(page.empty() ? summary_ : page);
  std::string out;
  if (!text.empty()) out += fmt::format("{}\n\n", text);
  return out + UsageText();
}

}  // namespace cli
