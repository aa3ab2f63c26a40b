#include "local/node/programs/warm_command.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace local::node {
namespace {

constexpr std::array<std::string_view, 8> kShells = {
    "sh", "bash", "dash", "/bin/sh", "/bin/bash", "/bin/dash", "/usr/bin/sh", "/usr/bin/bash"};

bool IsBlank(char c) { return c == ' ' || c == '\t'; }

// python, python3, python3.11, as a name or a path.
bool IsPython(std::string_view word) {
  const size_t slash = word.rfind('/');
  if (slash != std::string_view::npos) word.remove_prefix(slash + 1);
  if (!word.starts_with("python")) return false;
  word.remove_prefix(std::string_view("python").size());
  return std::all_of(word.begin(), word.end(),
                     [](char c) { return (c >= '0' && c <= '9') || c == '.'; });
}

bool IsAssignment(std::string_view word) {
  const size_t equals = word.find('=');
  if (equals == std::string_view::npos || equals == 0 || (word[0] >= '0' && word[0] <= '9')) {
    return false;
  }
  return std::all_of(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(equals), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

// Skips one word of the shell text at `at`; false when the text is more than a simple command.
bool SkipWord(std::string_view text, size_t& at) {
  char quote = 0;
  const size_t begin = at;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (quote == '\'') {
      if (c == quote) quote = 0;
    } else if (c == '\\') {
      ++at;
    } else if (c == '`' || (c == '$' && text.substr(at + 1).starts_with('('))) {
      return false;
    } else if (quote == '"') {
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (IsBlank(c)) {
      break;
    } else if (std::string_view("\n\r;&|<>(){}").find(c) != std::string_view::npos) {
      // ${NAME} is a value; braces have no other permitted use.
      const bool opens = c == '{' && at > begin && text[at - 1] == '$';
      const bool closes =
          c == '}' && text.substr(begin, at - begin).find("${") != std::string::npos;
      if (!opens && !closes) return false;
    } else if (c == '#' && at == begin) {
      return false;
    }
  }
  at = std::min(at, text.size());
  return quote == 0;
}

// The position of python in the shell text; npos when the text is not just that command.
size_t PythonIn(std::string_view text) {
  size_t python = std::string_view::npos;
  size_t at = 0;
  while (true) {
    while (at < text.size() && IsBlank(text[at])) ++at;
    // An escaped end of line separates words.
    if (text.substr(at).starts_with("\\\n")) {
      at += 2;
      continue;
    }
    if (at == text.size()) return python;
    const size_t begin = at;
    if (!SkipWord(text, at)) return std::string_view::npos;
    const std::string_view word = text.substr(begin, at - begin);
    if (python != std::string_view::npos || word == "exec" || IsAssignment(word)) continue;
    if (!IsPython(word)) return std::string_view::npos;
    python = begin;
  }
}

}  // namespace

std::optional<std::vector<std::string>> WarmCommand(const std::vector<std::string>& argv,
                                                    const std::string& stand_in) {
  if (argv.empty()) return std::nullopt;
  std::vector<std::string> warm = argv;
  if (IsPython(argv[0])) {
    warm.insert(warm.begin(), stand_in);
    return warm;
  }
  const bool is_shell = std::find(kShells.begin(), kShells.end(), argv[0]) != kShells.end();
  if (!is_shell || argv.size() != 3 || argv[1] != "-c") return std::nullopt;
  std::string& text = warm[2];
  while (!text.empty() && (IsBlank(text.back()) || text.back() == '\n')) text.pop_back();
  const size_t begin = text.find_first_not_of(" \t\n");
  if (begin == std::string::npos) return std::nullopt;
  text.erase(0, begin);
  const size_t python = PythonIn(text);
  if (python == std::string_view::npos || stand_in.find('\'') != std::string::npos) {
    return std::nullopt;
  }
  text.insert(python, "'" + stand_in + "' ");
  return warm;
}

}  // namespace local::node
