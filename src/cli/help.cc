#include "cli/help.h"

#include <vector>

#include "base/strings.h"
#include "cli/columns.h"

namespace cli {
namespace {

constexpr size_t kWidth = 80;
constexpr std::string_view kExamples = "\n## Examples\n";
constexpr std::string_view kFence = "```";

std::string Reflowed(std::string_view text) {
  std::string out;
  std::string paragraph;
  const auto end_paragraph = [&] {
    if (!paragraph.empty()) out += Wrapped(paragraph, kWidth, 0) + "\n";
    paragraph.clear();
  };
  for (const std::string& line : base::Split(base::Trim(text), '\n')) {
    if (line.empty() || line.front() == ' ') {
      end_paragraph();
      out += line + "\n";
    } else {
      paragraph += (paragraph.empty() ? "" : " ") + line;
    }
  }
  end_paragraph();
  return out;
}

// The lines between the fences.
std::string CodeIn(std::string_view text) {
  std::string out;
  bool is_code = false;
  for (const std::string& line : base::Split(text, '\n')) {
    if (line.starts_with(kFence)) {
      is_code = !is_code;
    } else if (is_code) {
      out += (line.empty() ? "" : "  " + line) + "\n";
    }
  }
  return out;
}

}  // namespace

HelpPage ParseHelpPage(std::string_view markdown, std::string_view program) {
  const std::string page = base::ReplaceAll(base::ReplaceAll(markdown, "{program}", program),
                                            "{version}", MUSTER_VERSION);
  const size_t examples = page.find(kExamples);
  if (examples == std::string::npos) return {Reflowed(page), ""};
  return {Reflowed(std::string_view(page).substr(0, examples)),
          CodeIn(std::string_view(page).substr(examples))};
}

HelpPage HelpPageOf(const std::string& path, std::string_view program) {
  const auto own = HelpPages().find(path + "." + std::string(program));
  return ParseHelpPage(own != HelpPages().end() ? own->second : HelpPages().at(path), program);
}

}  // namespace cli
