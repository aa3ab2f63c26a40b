#include "cli/completion.h"

#include <fmt/format.h>

#include <algorithm>

#include "arena/verbs.h"

namespace arena {

void AddArenaCompletion(cli::Command& root) {
  static const std::vector<std::string> kShells = {"bash", "zsh"};
  cli::Command& verb = root.Add("completion SHELL", "Print a completion script for bash or zsh");
  verb.CompleteArgs([](cli::Invocation& call, std::string_view) {
    return call.args.empty() ? kShells : std::vector<std::string>();
  });
  verb.Run([program = root.name()](cli::Invocation& call) -> base::Result<int> {
    if (call.args.empty()) {
      TRY(call.out.Write(call.command.HelpText()));
      return cli::kExitFailure;
    }
    const std::string& shell = call.args[0];
    if (std::find(kShells.begin(), kShells.end(), shell) == kShells.end()) {
      TRY(call.out.Write(
          fmt::format("Invalid shell '{}'. The supported shells are bash and zsh.\n", shell)));
      return cli::kExitFailure;
    }
    TRY(call.out.Write(*cli::CompletionScript(shell, program)));
    return 0;
  });
}

}  // namespace arena
