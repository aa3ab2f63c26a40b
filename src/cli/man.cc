#include "cli/man.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/file.h"
#include "base/strings.h"

namespace cli {
namespace {

// Escapes troff's requests and escapes, and hyphens, which would permit a line break.
std::string Escaped(std::string_view text) {
  std::string out;
  bool is_at_start = true;
  for (const char c : text) {
    if (is_at_start && (c == '.' || c == '\'')) out += "\\&";
    is_at_start = c == '\n';
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
  }
  return out;
}

std::string AsWritten(std::string_view text) {
  while (text.ends_with('\n')) text.remove_suffix(1);
  return fmt::format(".nf\n{}\n.fi\n", Escaped(text));
}

std::string PageName(const Command& command) {
  std::string name = command.Path();
  std::replace(name.begin(), name.end(), ' ', '-');
  return name;
}

std::string FlagsText(std::string_view heading, std::vector<Flag*> flags) {
  std::sort(flags.begin(), flags.end(),
            [](const Flag* a, const Flag* b) { return a->name() < b->name(); });
  std::string out;
  for (const Flag* flag : flags) {
    if (flag->is_hidden()) continue;
    std::string spelling = flag->shorthand() != 0 ? fmt::format("-{}, ", flag->shorthand()) : "";
    spelling += "--" + flag->name();
    if (!flag->is_bool()) spelling += " " + flag->type();
    out += fmt::format(".TP\n.B {}\n{}\n", Escaped(spelling), Escaped(flag->usage()));
    if (!flag->shown_default().empty()) {
      out += Escaped(fmt::format("(default {})\n", flag->shown_default()));
    }
  }
  return out.empty() ? "" : fmt::format(".SH {}\n{}", heading, out);
}

base::Status WriteBelow(Command& command, const std::string& folder) {
  const auto& children = command.children();
  TRY(base::WriteFileAtomic(fmt::format("{}/{}.1", folder, PageName(command)), command.ManPage(),
                            0644, base::Durability::kNone));
  for (const auto& child : children) {
    if (!child->is_hidden()) TRY(WriteBelow(*child, folder));
  }
  return {};
}

std::string Sections(Command& command) {
  const auto& children = command.children();
  std::string out = fmt::format("\n## {}\n\n```text\n{}```\n", command.Path(), command.HelpText());
  for (const auto& child : children) {
    if (!child->is_hidden()) out += Sections(*child);
  }
  return out;
}

constexpr std::string_view kGenerated =
    "<!-- scripts/reference writes this page from the program's own declarations. -->\n";

}  // namespace

std::string Command::ManPage() const {
  const Command* root = this;
  while (root->parent_ != nullptr) root = root->parent_;
  std::string out = fmt::format(".TH \"{}\" 1 \"\" \"{}\" \"User Commands\"\n.SH NAME\n{} \\- {}\n",
                                Escaped(base::ToUpper(PageName(*this))), Escaped(root->version_),
                                Escaped(PageName(*this)), Escaped(summary_));
  if (is_click() || is_raw_) {
    // Their help has the layout of the programs that they replace.
    return out + fmt::format(".SH DESCRIPTION\n{}", AsWritten(HelpText()));
  }
  const HelpPage page = Page();
  out += ".SH SYNOPSIS\n";
  if (is_runnable()) out += fmt::format(".B {}\n", Escaped(UseLine()));
  if (!is_runnable()) out += fmt::format(".B {}\n[command] [flags]\n", Escaped(Path()));
  if (!aliases_.empty()) out += fmt::format(".br\nor {}\n", Escaped(base::Join(aliases_, ", ")));
  out += fmt::format(".SH DESCRIPTION\n{}", AsWritten(page.text.empty() ? summary_ : page.text));
  std::string children;
  for (const auto& child : children_) {
    if (child->is_hidden_) continue;
    children +=
        fmt::format(".TP\n.BR {} (1)\n{}\n", Escaped(PageName(*child)), Escaped(child->summary_));
  }
  if (!children.empty()) out += ".SH COMMANDS\n" + children;
  out += FlagsText("OPTIONS", OwnFlags());
  out += FlagsText("GLOBAL OPTIONS", InheritedFlags());
  if (!page.example.empty()) out += fmt::format(".SH EXAMPLES\n{}", AsWritten(page.example));
  if (parent_ != nullptr) {
    out += fmt::format(".SH SEE ALSO\n.BR {} (1)\n", Escaped(PageName(*parent_)));
  }
  return out;
}

base::Status WriteManual(Command& root, const std::string& folder) {
  return WriteBelow(root, folder);
}

base::Status WriteReference(Command& root, const std::string& folder) {
  std::string index = fmt::format(
      "{}# Commands\n\nEach page is what `--help` prints.\n\n| command | what it does |\n"
      "|---|---|\n",
      kGenerated);
  std::map<std::string, Command*> by_name;
  for (const auto& child : root.children()) by_name[child->name()] = child.get();
  for (const auto& [name, child] : by_name) {
    if (child->is_hidden()) continue;
    index += fmt::format("| [{0}]({0}.md) | {1} |\n", child->name(), child->summary());
    const std::string page = fmt::format("{}# {}\n{}", kGenerated, child->Path(), Sections(*child));
    TRY(base::WriteFileAtomic(fmt::format("{}/{}.md", folder, child->name()), page, 0644,
                              base::Durability::kNone));
  }
  return base::WriteFileAtomic(folder + "/README.md", index, 0644, base::Durability::kNone);
}

}  // namespace cli
