#include "cli/click.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>

#include "base/strings.h"

namespace cli {
namespace {

constexpr size_t kHelpWidth = 80;
constexpr size_t kWidestLeft = 30;

base::Error ClickUsage(std::string message) {
  return {base::Code::kInvalidArgument, std::move(message), 0};
}

// '--framework' / '-f'
std::string QuotedNames(const Flag& flag) {
  std::string text = fmt::format("'--{}'", flag.name());
  if (!flag.single_dash().empty()) text += fmt::format(" / '-{}'", flag.single_dash());
  if (flag.shorthand() != 0) text += fmt::format(" / '-{}'", flag.shorthand());
  return text;
}

std::string QuotedList(const std::vector<std::string>& values) {
  std::string text;
  for (const std::string& value : values)
    text += fmt::format("{}'{}'", text.empty() ? "" : ", ", value);
  return text;
}

// Wraps words into lines of `width`, indenting each after the first by `indent` blanks.
std::string Wrapped(std::string_view text, size_t width, size_t indent) {
  std::string out;
  size_t column = 0;
  for (const std::string& word : base::Split(text, ' ')) {
    if (word.empty()) continue;
    if (column != 0 && column + 1 + word.size() > width) {
      out += "\n" + std::string(indent, ' ');
      column = 0;
    }
    if (column != 0) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
  }
  return out;
}

// Two columns; a wide text on the left gets a line of its own.
std::string Columns(const std::vector<std::pair<std::string, std::string>>& rows) {
  size_t widest = 0;
  for (const auto& [left, right] : rows) widest = std::max(widest, left.size());
  const size_t first = std::min(widest, kWidestLeft);
  const size_t at = first + 4;
  std::string out;
  for (const auto& [left, right] : rows) {
    out += "  " + left;
    const std::string text = Wrapped(right, kHelpWidth - at, at);
    if (!text.empty()) {
      out += left.size() > first ? "\n" + std::string(at, ' ')
                                 : std::string(first - left.size() + 2, ' ');
    }
    out += text + "\n";
  }
  return out;
}

std::string ValueWord(const Flag& flag) {
  if (flag.is_bool()) return "";
  if (!flag.choices().empty()) return fmt::format(" [{}]", base::Join(flag.choices(), "|"));
  if (flag.type() == "string" || flag.type() == "stringArray") return " TEXT";
  return " " + base::ToUpper(flag.type());
}

// How many edits a misspelt name may differ from the right one.
size_t Farthest(std::string_view name) { return std::max<size_t>(2, name.size() / 4); }

bool MayBeLeftOut(std::string_view name) { return name.starts_with('['); }

}  // namespace

Flag* ClickParser::FindLong(std::string_view spelling) const {
  for (Flag* flag : flags_) {
    if (spelling.starts_with("--")
            ? flag->Matches(spelling.substr(2))
            : !flag->single_dash().empty() && spelling.substr(1) == flag->single_dash()) {
      return flag;
    }
  }
  return nullptr;
}

Flag* ClickParser::FindShort(char shorthand) const {
  for (Flag* flag : flags_) {
    if (flag->shorthand() == shorthand) return flag;
  }
  return nullptr;
}

base::Error ClickParser::NoSuchOption(std::string_view spelling) const {
  std::string best;
  size_t best_distance = Farthest(spelling) + 1;
  for (const Flag* flag : flags_) {
    if (flag->is_hidden() || !spelling.starts_with("--")) continue;
    const size_t distance = base::EditDistance(spelling.substr(2), flag->name());
    if (distance < best_distance && distance < flag->name().size()) {
      best_distance = distance;
      best = flag->name();
    }
  }
  std::string text = fmt::format("No such option '{}'.", spelling);
  if (!best.empty()) text += fmt::format(" Did you mean '--{}'?", best);
  return ClickUsage(std::move(text));
}

base::Status ClickParser::Set(Flag& flag, std::string_view value) {
  const auto& choices = flag.choices_;
  const auto refuse = [&](std::string_view why) {
    return base::Fail(ClickUsage(fmt::format("Invalid value for {}: {}", QuotedNames(flag), why)));
  };
  if (!choices.empty() && std::find(choices.begin(), choices.end(), value) == choices.end()) {
    return refuse(fmt::format("'{}' is not one of {}.", value, QuotedList(choices)));
  }
  if (base::Status status = flag.set_(value); !status) return refuse(status.error().message);
  flag.changed_ = true;
  return {};
}

base::Status ClickParser::TakeValue(Flag& flag, std::string_view spelling, Cursor& cursor) {
  const bool has_next = cursor.next < cursor.args.size();
  if (flag.optional_value_ && (!has_next || cursor.args[cursor.next].starts_with('-'))) {
    return Set(flag, *flag.optional_value_);
  }
  if (!has_next) {
    return base::Fail(ClickUsage(fmt::format("Option '{}' requires an argument.", spelling)));
  }
  return Set(flag, cursor.args[cursor.next++]);
}

base::Status ClickParser::ParseShorts(const std::string& text, Cursor& cursor) {
  for (size_t i = 1; i < text.size(); ++i) {
    const std::string spelling = {'-', text[i]};
    Flag* flag = FindShort(text[i]);
    if (flag == nullptr) return base::Fail(NoSuchOption(spelling));
    if (flag->is_bool()) {
      TRY(Set(*flag, "true"));
      continue;
    }
    if (i + 1 < text.size()) return Set(*flag, std::string_view(text).substr(i + 1));
    return TakeValue(*flag, spelling, cursor);
  }
  return {};
}

base::Status ClickParser::ParseOption(const std::string& text, Cursor& cursor) {
  const size_t equals = text.find('=');
  const std::string spelling = text.substr(0, equals);
  Flag* flag = FindLong(spelling);
  if (flag == nullptr) {
    if (!text.starts_with("--")) return ParseShorts(text, cursor);
    return base::Fail(NoSuchOption(spelling));
  }
  if (equals == std::string::npos) {
    return flag->is_bool() ? Set(*flag, "true") : TakeValue(*flag, spelling, cursor);
  }
  if (flag->is_bool()) {
    return base::Fail(ClickUsage(fmt::format("Option '{}' does not take a value.", spelling)));
  }
  return Set(*flag, std::string_view(text).substr(equals + 1));
}

base::Result<ParsedArgs> ClickParser::Parse(const std::vector<std::string>& args,
                                            bool interspersed) {
  ParsedArgs parsed;
  Cursor cursor{args};
  const auto take_rest = [&] {
    parsed.positionals.insert(parsed.positionals.end(),
                              args.begin() + static_cast<ptrdiff_t>(cursor.next), args.end());
    cursor.next = args.size();
  };
  while (cursor.next < args.size()) {
    const std::string& text = args[cursor.next++];
    if (text == "--") {
      parsed.dash = parsed.positionals.size();
      take_rest();
    } else if (text.size() > 1 && text[0] == '-') {
      TRY(ParseOption(text, cursor));
      const Flag* help = FindLong("--help");
      // Eager: errors after it do not matter.
      parsed.help = help != nullptr && help->changed();
      if (parsed.help) return parsed;
    } else {
      parsed.positionals.push_back(text);
      if (!interspersed) take_rest();
    }
  }
  for (const Flag* flag : flags_) {
    if (!flag->is_required() || flag->changed()) continue;
    std::string text = fmt::format("Missing option {}.", QuotedNames(*flag));
    if (!flag->choices().empty())
      text += " Choose from:\n\t" + base::Join(flag->choices(), ",\n\t");
    return base::Fail(ClickUsage(std::move(text)));
  }
  return parsed;
}

Flag& ClickInt(FlagSet& set, int64_t* to, std::string name, int64_t otherwise, std::string usage) {
  *to = otherwise;
  return set.Custom(
      std::move(name), "integer", std::move(usage), [to](std::string_view value) -> base::Status {
        const std::optional<int64_t> number = base::ParseInt(base::Trim(value));
        if (!number) {
          return base::Fail(ClickUsage(fmt::format("'{}' is not a valid integer.", value)));
        }
        *to = *number;
        return {};
      });
}

std::string ClickText::UsageLine() const {
  std::string line = fmt::format("Usage: {} [OPTIONS]", command_.Path());
  if (!command_.children_.empty()) line += " COMMAND [ARGS]...";
  for (const std::string& name : command_.click_args_) line += " " + name;
  return line;
}

std::string ClickText::Options() const {
  std::vector<std::pair<std::string, std::string>> rows;
  for (const Flag* flag : command_.OwnFlags()) {
    if (flag->is_hidden()) continue;
    std::string left;
    if (flag->shorthand() != 0) left += fmt::format("-{}, ", flag->shorthand());
    if (!flag->single_dash().empty()) left += fmt::format("-{}, ", flag->single_dash());
    left += "--" + flag->name() + ValueWord(*flag);
    rows.emplace_back(std::move(left),
                      flag->is_required() ? flag->usage() + "  [required]" : flag->usage());
  }
  return rows.empty() ? "" : "\nOptions:\n" + Columns(rows);
}

std::string ClickText::Commands() const {
  std::vector<std::pair<std::string, std::string>> rows;
  for (const auto& child : command_.children_) {
    if (!child->is_hidden_) rows.emplace_back(child->name_, child->summary_);
  }
  std::sort(rows.begin(), rows.end());
  return rows.empty() ? "" : "\nCommands:\n" + Columns(rows);
}

std::string ClickText::Help() const {
  std::string out = UsageLine() + "\n";
  const std::string& text = command_.long_.empty() ? command_.summary_ : command_.long_;
  for (const std::string& paragraph : base::Split(text, '\n')) {
    out += paragraph.empty() ? "\n" : "\n  " + Wrapped(paragraph, kHelpWidth - 2, 2);
  }
  if (!text.empty()) out += "\n";
  if (!command_.example_.empty()) out += fmt::format("\nExamples:\n{}\n", command_.example_);
  return out + Options() + Commands();
}

std::string ClickText::UsageFailure(std::string_view message) const {
  return fmt::format("{}\nTry '{} --help' for help.\n\nError: {}\n", UsageLine(), command_.Path(),
                     message);
}

std::string ClickText::NoSuchCommand(const std::string& name) const {
  std::string best;
  size_t best_distance = Farthest(name) + 1;
  for (const auto& child : command_.children_) {
    const size_t distance = base::EditDistance(name, child->name_);
    if (!child->is_hidden_ && distance < best_distance && distance < child->name_.size()) {
      best_distance = distance;
      best = child->name_;
    }
  }
  std::string text = fmt::format("No such command '{}'.", name);
  if (!best.empty()) text += fmt::format(" Did you mean '{}'?", best);
  return text;
}

base::Status ClickText::Check(const std::vector<std::string>& positionals) const {
  const std::vector<std::string>& names = command_.click_args_;
  if (positionals.size() < names.size() && !MayBeLeftOut(names[positionals.size()])) {
    return base::Fail(ClickUsage(fmt::format("Missing argument '{}'.", names[positionals.size()])));
  }
  const bool has_many = !names.empty() && names.back().ends_with("...");
  if (has_many || positionals.size() <= names.size()) return {};
  const std::vector<std::string> extra(positionals.begin() + static_cast<ptrdiff_t>(names.size()),
                                       positionals.end());
  return base::Fail(ClickUsage(fmt::format("Got unexpected extra argument{} ({})",
                                           extra.size() > 1 ? "s" : "", base::Join(extra, " "))));
}

std::string ClickFailure(const base::Error& error) {
  const std::string& message = error.message;
  const size_t colon = message.find(": ");
  const std::string_view kind =
      std::string_view(message).substr(0, std::min(colon, message.size()));
  const bool is_named =
      colon != std::string::npos && !kind.empty() &&
      (kind == "Exception" || kind.ends_with("Error") || kind.ends_with("NotFound")) &&
      std::all_of(kind.begin(), kind.end(), [](unsigned char c) { return std::isalpha(c) != 0; });
  return is_named ? message + " \n" : fmt::format("Error: {} \n", message);
}

}  // namespace cli
