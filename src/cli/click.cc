#include "cli/click.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>

#include "base/nearest.h"
#include "base/strings.h"
#include "cli/columns.h"

namespace cli {
namespace {

constexpr size_t kHelpWidth = 80;
constexpr size_t kWidestLeft = 32;

tl::unexpected<base::Error> ClickUsage(std::string message) {
  return base::Fail(base::Code::kInvalidArgument, std::move(message));
}

constexpr ColumnLayout kLayout = {.gap = 2, .widest_left = kWidestLeft, .width = kHelpWidth};

std::string ValueWord(const Flag& flag) {
  if (flag.is_bool()) return "";
  if (!flag.choices().empty()) return fmt::format(" [{}]", base::Join(flag.choices(), "|"));
  if (flag.type() == "string" || flag.type() == "stringArray") return " TEXT";
  return " " + base::ToUpper(flag.type());
}

bool MayBeLeftOut(std::string_view name) { return name.starts_with('['); }

}  // namespace

Flag& ClickInt(FlagSet& set, int64_t* to, std::string name, int64_t otherwise, std::string usage) {
  *to = otherwise;
  return set.Custom(std::move(name), "integer", std::move(usage),
                    [to](std::string_view value) -> base::Status {
                      const std::optional<int64_t> number = base::ParseInt(base::Trim(value));
                      if (!number)
                        return ClickUsage(fmt::format("'{}' is not a valid integer.", value));
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
    std::string left = "  ";
    if (flag->shorthand() != 0) left += fmt::format("-{}, ", flag->shorthand());
    if (!flag->single_dash().empty()) left += fmt::format("-{}, ", flag->single_dash());
    left += "--" + flag->name() + ValueWord(*flag);
    rows.emplace_back(std::move(left),
                      flag->is_required() ? flag->usage() + "  [required]" : flag->usage());
  }
  return rows.empty() ? "" : "\nOptions:\n" + InColumns(rows, kLayout);
}

std::string ClickText::Commands() const {
  std::vector<std::pair<std::string, std::string>> rows;
  for (const auto& child : command_.children_) {
    if (!child->is_hidden_) rows.emplace_back("  " + child->name_, child->summary_);
  }
  std::sort(rows.begin(), rows.end());
  return rows.empty() ? "" : "\nCommands:\n" + InColumns(rows, kLayout);
}

std::string ClickText::Help() const {
  std::string out = UsageLine() + "\n";
  const HelpPage page = command_.Page();
  const std::string& text = page.text.empty() ? command_.summary_ : page.text;
  // A page comes wrapped for another layout.
  for (const std::string& lines :
       base::Split(base::ReplaceAll(base::Trim(text), "\n\n", "\f"), '\f')) {
    const std::string paragraph = base::ReplaceAll(lines, "\n", " ");
    if (!paragraph.empty()) out += "\n  " + Wrapped(paragraph, kHelpWidth - 2, 2) + "\n";
  }
  if (!page.example.empty()) {
    out += fmt::format("\nExamples:\n{}\n",
                       page.example.substr(0, page.example.find_last_not_of('\n') + 1));
  }
  return out + Options() + Commands();
}

std::string ClickText::UsageFailure(std::string_view message) const {
  return fmt::format("{}\nTry '{} --help' for help.\n\nError: {}\n", UsageLine(), command_.Path(),
                     message);
}

std::string ClickText::NoSuchCommand(const std::string& name) const {
  std::vector<std::string_view> names;
  for (const auto& child : command_.children_) {
    if (!child->is_hidden_) names.push_back(child->name_);
  }
  const std::string_view nearest = base::Nearest(name, names);
  std::string text = fmt::format("No such command '{}'.", name);
  if (!nearest.empty()) text += fmt::format(" Did you mean '{}'?", nearest);
  return text;
}

base::Status ClickText::Check(const std::vector<std::string>& positionals) const {
  const std::vector<std::string>& names = command_.click_args_;
  if (positionals.size() < names.size() && !MayBeLeftOut(names[positionals.size()])) {
    return ClickUsage(fmt::format("Missing argument '{}'.", names[positionals.size()]));
  }
  const bool has_many = !names.empty() && names.back().ends_with("...");
  if (has_many || positionals.size() <= names.size()) return {};
  const std::vector<std::string> extra(positionals.begin() + static_cast<ptrdiff_t>(names.size()),
                                       positionals.end());
  return ClickUsage(fmt::format("Got unexpected extra argument{} ({})", extra.size() > 1 ? "s" : "",
                                base::Join(extra, " ")));
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
