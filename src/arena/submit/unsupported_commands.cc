#include <fmt/format.h>

#include "arena/verbs.h"

namespace arena {
namespace {

struct UnsupportedCommand {
  const char* name;
  std::vector<std::string> aliases;
};

// Adds a command that only says, in one line, that muster does not support it.
void RefuseCommand(cli::Command& parent, const UnsupportedCommand& command,
                   const std::string& why) {
  parent.Add(command.name, "")
      .Hidden()
      .Aliases(command.aliases)
      .RawArgs()
      .Run([why](cli::Invocation&) -> base::Result<int> {
        return base::Fail(base::Code::kInvalidArgument, why);
      });
}

}  // namespace

void AddUnsupportedCommands(cli::Command& root) {
  const UnsupportedCommand commands[] = {{"serve", {}},    {"cron", {}},     {"model", {}},
                                         {"evaluate", {}}, {"scaleout", {}}, {"scalein", {}},
                                         {"llm", {}}};
  for (const UnsupportedCommand& command : commands) {
    RefuseCommand(
        root, command,
        fmt::format("{} is not one of muster's commands: it runs PyTorch training jobs only",
                    command.name));
  }
}

void AddUnsupportedTrainers(cli::Command& submit) {
  const UnsupportedCommand trainers[] = {
      {"tfjob", {"tf"}},        {"mpijob", {"mpi", "mj"}}, {"horovodjob", {"horovod", "hj"}},
      {"sparkjob", {"spark"}},  {"volcanojob", {"vj"}},    {"etjob", {"et"}},
      {"deepspeedjob", {"dp"}}, {"rayjob", {"rj"}},
  };
  for (const UnsupportedCommand& trainer : trainers) {
    RefuseCommand(
        submit, trainer,
        fmt::format(
            "{} is not one of muster's jobs: it submits PyTorch jobs only (submit pytorchjob)",
            trainer.name));
  }
}

}  // namespace arena
