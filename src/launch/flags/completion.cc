#include "launch/flags/completion.h"

#include <fmt/format.h>

#include "launch/flags/flags.h"

namespace launch {

std::string CompletionScript(std::string_view shell, const std::string& program) {
  std::string words = "--help";
  std::string choices;
  for (const FlagSpec& flag : AllFlags()) {
    words += fmt::format(" --{}", flag.name);
    if (flag.choices.empty()) continue;
    choices += fmt::format("    --{}) COMPREPLY=($(compgen -W '", flag.name);
    for (const std::string_view choice : flag.choices) choices += fmt::format("{} ", choice);
    choices += "' -- \"$word\")); return ;;\n";
  }
  if (shell == "tcsh") {
    return fmt::format("complete {} 'c/--/({})/' 'p/*/f/'\n", program, words);
  }
  std::string function = "_" + program;
  std::replace_if(
      function.begin(), function.end(),
      [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  std::string script = shell == "zsh" ? "autoload -U +X bashcompinit && bashcompinit\n" : "";
  script += fmt::format(
      "{0}() {{\n"
      "  local word=${{COMP_WORDS[COMP_CWORD]}}\n"
      "  case ${{COMP_WORDS[COMP_CWORD-1]}} in\n{1}  esac\n"
      "  case $word in\n"
      "    -*) COMPREPLY=($(compgen -W '{2}' -- \"$word\")) ;;\n"
      "    *) COMPREPLY=($(compgen -f -- \"$word\")) ;;\n"
      "  esac\n"
      "}}\n"
      "complete -o filenames -F {0} {3}\n",
      function, choices, words, program);
  return script;
}

}  // namespace launch
