#include <fmt/format.h>

#include "arena/verbs.h"

namespace arena {
namespace {

struct Foreign {
  const char* name;
  std::vector<std::string> aliases;
};

// A command that says in one line that muster does not do what it asks for.
void RefuseForeign(cli::Command& parent, const Foreign& foreign, const std::string& why) {
  parent.Add(foreign.name, "")
      .Hidden()
      .Aliases(foreign.aliases)
      .RawArgs()
      .Run([why](cli::Invocation&) -> base::Result<int> {
        return base::Fail(base::Code::kInvalidArgument, why);
      });
}

}  // namespace

void AddForeignCommands(cli::Command& root) {
  const Foreign commands[] = {{"serve", {}},    {"cron", {}},    {"model", {}}, {"evaluate", {}},
                              {"scaleout", {}}, {"scalein", {}}, {"llm", {}}};
  for (const Foreign& command : commands) {
    RefuseForeign(
        root, command,
        fmt::format("{} is not one of muster's commands: it runs PyTorch training jobs only",
                    command.name));
  }
}

void AddForeignTrainers(cli::Command& submit) {
  const Foreign trainers[] = {
      {"tfjob", {"tf"}},        {"mpijob", {"mpi", "mj"}}, {"horovodjob", {"horovod", "hj"}},
      {"sparkjob", {"spark"}},  {"volcanojob", {"vj"}},    {"etjob", {"et"}},
      {"deepspeedjob", {"dp"}}, {"rayjob", {"rj"}},
  };
  for (const Foreign& trainer : trainers) {
    RefuseForeign(
        submit, trainer,
        fmt::format(
            "{} is not one of muster's jobs: it submits PyTorch jobs only (submit pytorchjob)",
            trainer.name));
  }
}

}  // namespace arena
