#include "cli/completion.h"

#include <fmt/format.h>

#include "base/strings.h"

namespace cli {
namespace {

// @ stands for the program's name, @@ for that name as part of a shell function's name.
constexpr std::string_view kBash = R"(# bash completion for @
__@@_complete() {
    local rest=${COMP_LINE:0:COMP_POINT} cur= breaks= prefix= word line out directive i last
    local -a words=()
    COMPREPLY=()
    # readline splits at = and : too; only blanks end a word here.
    for ((i = 0; i <= COMP_CWORD; i++)); do
        word=${rest#"${rest%%[![:blank:]]*}"}
        last=$((${#words[*]} - 1))
        if ((i > 0)) && [[ $rest == "$word" ]]; then
            rest=$word
            ((i == COMP_CWORD)) || word=${COMP_WORDS[i]}
            words[last]+=$word
        else
            rest=$word
            ((i == COMP_CWORD)) || word=${COMP_WORDS[i]}
            words[last + 1]=$word
        fi
        rest=${rest#"$word"}
    done
    last=$((${#words[*]} - 1))
    cur=${words[last]}
    unset "words[last]"
    out=$("${COMP_WORDS[0]}" __complete "${words[@]:1}" "$cur" 2>/dev/null) || return
    directive=${out##*:}
    # It replaces only what follows the last of them.
    [[ $COMP_WORDBREAKS == *=* ]] && breaks+="="
    [[ $COMP_WORDBREAKS == *:* ]] && breaks+=":"
    [[ -n $breaks ]] && prefix=${cur%"${cur##*[$breaks]}"}
    while IFS= read -r line; do
        [[ $line == :* || -z $line ]] && continue
        line=${line%%$'\t'*}
        [[ $line == "$cur"* ]] && COMPREPLY+=("${line#"$prefix"}")
    done <<<"$out"
    if [[ ${#COMPREPLY[*]} -eq 0 && $directive == 0 ]]; then
        compopt -o default 2>/dev/null
    fi
}
complete -F __@@_complete @
)";

constexpr std::string_view kZsh = R"(#compdef @
# zsh completion for @
_@@() {
    local out line
    local -a candidates
    out=$("${words[1]}" __complete "${(@)words[2,CURRENT-1]}" "${words[CURRENT]}" 2>/dev/null) || return
    for line in "${(@f)out}"; do
        [[ $line == :* || -z $line ]] && continue
        line=${line//:/\\:}
        candidates+=("${line/$'\t'/:}")
    done
    if (( ${#candidates} )); then
        _describe -t completions '@' candidates
    elif [[ ${out##*:} == 0 ]]; then
        [[ ${words[CURRENT]} == --*=* ]] && compset -P 1 '*='
        _files
    fi
}
if [[ ${funcstack[1]} == _@@ ]]; then
    _@@
else
    compdef _@@ @
fi
)";

constexpr std::string_view kFish = R"(# fish completion for @
function __@@_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l out ($words[1] __complete $words[2..-1] "$current" 2>/dev/null)
    for line in $out
        string match -q ':*' -- $line; or echo $line
    end
    if test "$out[-1]" = ':0'
        __fish_complete_path "$current"
    end
end
complete -c @ -f -a '(__@@_complete)'
)";

std::string Filled(std::string_view script, const std::string& program) {
  std::string identifier = program;
  std::replace_if(
      identifier.begin(), identifier.end(),
      [](char c) {
        return !(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9');
      },
      '_');
  std::string out;
  for (size_t i = 0; i < script.size(); ++i) {
    // "${words[@]...}" is the shell's own.
    if (script[i] != '@' || (i > 0 && script[i - 1] == '[') || (i > 0 && script[i - 1] == '(')) {
      out += script[i];
    } else if (i + 1 < script.size() && script[i + 1] == '@') {
      out += identifier;
      ++i;
    } else {
      out += program;
    }
  }
  return out;
}

void AddShell(Command& completion, const std::string& shell, const std::string& hint) {
  const std::string program = completion.parent()->name();
  completion.Add(shell, fmt::format("Print the completion script for {}", shell))
      .Long(fmt::format("Prints the completion script for {}. To load it now:\n\n  {}", shell,
                        base::ReplaceAll(hint, "@", program)))
      .Args(NoArgs())
      .Run([shell, program](Invocation& call) -> base::Result<int> {
        TRY(call.out.Write(*CompletionScript(shell, program)));
        return 0;
      });
}

}  // namespace

std::optional<std::string> CompletionScript(std::string_view shell, const std::string& program) {
  if (shell == "bash") return Filled(kBash, program);
  if (shell == "zsh") return Filled(kZsh, program);
  if (shell == "fish") return Filled(kFish, program);
  return std::nullopt;
}

void AddCompletionCommand(Command& root) {
  Command& completion = root.Add("completion", "Print a completion script for the shell");
  AddShell(completion, "bash", "source <(@ completion bash)");
  AddShell(completion, "zsh", "source <(@ completion zsh)");
  AddShell(completion, "fish", "@ completion fish | source");
}

}  // namespace cli
