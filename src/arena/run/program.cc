#include "arena/run/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/strings.h"

namespace arena {
namespace {

bool IsScript(std::string_view word) { return word.ends_with(".py"); }

std::string_view NameOf(std::string_view path) { return path.substr(path.rfind('/') + 1); }

bool IsPython(std::string_view word) {
  std::string_view name = NameOf(word);
  if (!name.starts_with("python")) return false;
  name.remove_prefix(6);
  return name.find_first_not_of("0123456789.") == std::string_view::npos;
}

bool IsShell(std::string_view word) {
  const std::string_view name = NameOf(word);
  return name == "sh" || name == "bash" || name == "dash" || name == "zsh";
}

// Without a terminal such a program ends at once, and well, whatever was meant.
bool ReadsStdin(const std::vector<std::string>& words) {
  if (words[0] == "-") return true;
  if (!IsPython(words[0]) && !IsShell(words[0])) return false;
  if (words.size() == 1) return true;
  // A shell takes the word after "-" for its script.
  if (words[1] == "-") return IsPython(words[0]) || words.size() == 2;
  return (words.size() == 2 && IsShell(words[0]) && words[1] == "-s") ||
         (words[1] == "-u" && (words.size() == 2 || words[2] == "-"));
}

std::string Quoted(const std::vector<std::string>& words, size_t from = 0) {
  std::string line;
  for (size_t i = from; i < words.size(); ++i) {
    if (!line.empty()) line += ' ';
    line += base::ShellQuote(words[i]);
  }
  return line;
}

std::string StemOf(std::string_view name) {
  name = NameOf(name);
  if (IsScript(name)) name.remove_suffix(3);
  return std::string(name);
}

// Returns where the script or module stands behind the interpreter's name. The launcher starts
// Python itself, always unbuffered, so that -u can be dropped; it would not pass on any other
// option.
size_t BehindUnbuffered(const std::vector<std::string>& words) {
  size_t at = 1;
  while (at < words.size() && words[at] == "-u") ++at;
  return at;
}

Program OfModule(const std::string& module, const std::string& rest, const std::string& starter) {
  Program program;
  program.stem = module.substr(module.rfind('.') + 1);
  program.command = fmt::format("exec {} -m {}", starter, base::ShellQuote(module));
  if (!rest.empty()) program.command += " " + rest;
  return program;
}

}  // namespace

base::Result<Program> ReadProgram(const std::vector<std::string>& words, const std::string& module,
                                  const std::string& line_label) {
  const bool has_ranks = !line_label.empty();
  const std::string launcher = fmt::format("torchrun --role={} --tee=3", line_label);
  if (!module.empty()) return OfModule(module, Quoted(words), has_ranks ? launcher : "python");
  if (ReadsStdin(words)) {
    return base::Fail(base::Code::kInvalidArgument,
                      fmt::format("{} reads its program from stdin, which a job does not have: put "
                                  "it into a file and name that",
                                  Quoted(words)));
  }
  Program program;
  const bool is_line = words.size() == 1 && words[0].find_first_of(" \t\n") != std::string::npos;
  if (is_line) {
    const std::vector<std::string> parts = base::Split(std::string(base::Trim(words[0])), ' ');
    program.stem = StemOf(parts.front());
    program.command = has_ranks ? fmt::format("exec {} --no-python sh -c {}", launcher,
                                              base::ShellQuote(words[0]))
                                : words[0];
    return program;
  }
  program.stem = StemOf(words[0]);
  if (IsScript(words[0])) {
    program.script = words[0];
    program.command = fmt::format("exec {} {}", has_ranks ? launcher : "python", Quoted(words));
    return program;
  }
  if (!IsPython(words[0])) {
    program.program = words[0];
    program.command = fmt::format(
        "exec {}{}", has_ranks ? fmt::format("{} --no-python ", launcher) : "", Quoted(words));
    return program;
  }
  const size_t at = BehindUnbuffered(words);
  const bool is_script = at < words.size() && IsScript(words[at]);
  const bool is_module = at + 1 < words.size() && words[at] == "-m";
  if (is_script) {
    program.stem = StemOf(words[at]);
    program.script = words[at];
  } else if (is_module) {
    program.stem = words[at + 1].substr(words[at + 1].rfind('.') + 1);
  }
  if (words[0].find('/') != std::string::npos) program.program = words[0];
  // The launcher's own Python is the environment's. Another one is a program to it.
  const bool is_own = words[0] == "python" || words[0] == "python3";
  if (!has_ranks) {
    program.command = "exec " + Quoted(words);
  } else if (is_own && (is_script || is_module)) {
    program.command = fmt::format("exec {} {}", launcher, Quoted(words, at));
  } else {
    program.command = fmt::format("exec {} --no-python {}", launcher, Quoted(words));
  }
  return program;
}

}  // namespace arena
