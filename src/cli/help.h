// The Markdown pages beside the verbs' sources (src/ROOM/VERB.md), which are their long help, their
// man pages and their pages of the reference.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace cli {

struct HelpPage {
  std::string text;  // paragraphs of at most 80 columns; lines that begin with a blank as written
  std::string example;  // commands, each line indented by two blanks
};

// Every page by its path below src/, without ".md". Made by cmake/EmbedHelp.cmake.
const std::map<std::string_view, std::string_view>& HelpPages();

// Parses a page: text, then "## Examples" with one block of code. {program} and
// {version} are replaced. Pure.
HelpPage ParseHelpPage(std::string_view markdown, std::string_view program);

// The page "arena/history/get", or "arena/history/get.arena" if `program` is arena and has its own.
// The page must exist, which a test checks.
HelpPage HelpPageOf(const std::string& path, std::string_view program);

}  // namespace cli
