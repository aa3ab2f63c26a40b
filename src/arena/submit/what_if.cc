#include <fmt/format.h>

#include <memory>

#include "arena/app/complete_names.h"
#include "arena/jobs/forecast.h"
#include "arena/jobs/job_output.h"
#include "arena/submit/prepare.h"
#include "arena/verbs.h"
#include "base/log.h"

namespace arena {
namespace {

struct WhatIfFlags {
  WouldBe job;
  std::chrono::nanoseconds timeout{0};
  std::string output;
};

base::Status CheckWhatIf(WhatIfFlags& flags, const cli::Invocation& call) {
  const auto misuse = [](const char* text) {
    return base::Fail(base::Code::kInvalidArgument, text);
  };
  if (flags.job.gpus < 0 || flags.job.gpus > 1'000) {
    return misuse("--gpus is invalid: it is between 0 and 1000");
  }
  if (flags.job.nodes < 1 || flags.job.nodes > 1'000) {
    return misuse("--nodes is invalid: it is between 1 and 1000");
  }
  if (flags.timeout.count() < 0) return misuse("--timeout is invalid: it must not be negative");
  if (flags.timeout.count() > 0 && flags.timeout < std::chrono::seconds(1)) {
    return misuse("--timeout is invalid: it counts whole seconds");
  }
  flags.job.deadline = std::chrono::duration_cast<std::chrono::seconds>(flags.timeout).count();
  for (const std::string& word : call.args) {
    flags.job.command += (flags.job.command.empty() ? "" : " ") + word;
  }
  return {};
}

base::Result<int> RunWhatIf(Context& context, const WhatIfFlags& flags, cli::Invocation& call) {
  TRY_ASSIGN(const Format format, FormatOf(flags.output, call));
  if (IsForMachines(format)) KeepOutputPure(context);
  TRY_ASSIGN(cluster::Client * client, context.connect(context));
  TRY(CheckPriorityClass(*client, context, flags.job.priority));
  TRY_ASSIGN(const text::Json forecast, AskForecast(*client, context, flags.job));
  if (const std::string_view gpus = text::GetString(forecast, {"gpus"}); !gpus.empty()) {
    base::LogWarn("{}", gpus);
  }
  TRY(call.out.Write(IsForMachines(format) ? RenderDocument(forecast, format)
                                           : RenderForecast(forecast, context.clock.Now())));
  return 0;
}

}  // namespace

void AddWhatIf(cli::Command& root, Context& context) {
  cli::Command& verb =
      root.Add("what-if [COMMAND]", "Predict when a job would start, without creating it")
          .Help("arena/submit/what_if", context.program);
  auto flags = std::make_shared<WhatIfFlags>();
  cli::FlagSet& set = verb.flags();
  set.Int(&flags->job.gpus, "gpus", 1, "GPUs of each node");
  set.Int(&flags->job.nodes, "nodes", 1, "nodes, as of `run`: replicas that start together");
  set.String(&flags->job.priority, "priority", "", "its priority class")
      .Complete([&context](std::string_view) { return CompletePriorityNames(context); });
  set.Duration(&flags->timeout, "timeout", std::chrono::nanoseconds(0),
               "its deadline, its wait included: a short job may start before the jobs that wait");
  AddDocumentFlag(set, &flags->output);
  verb.Check([flags](cli::Invocation& call) -> base::Status {
    TRY(FormatOf(flags->output, call));
    return CheckWhatIf(*flags, call);
  });
  verb.Run([flags, &context](cli::Invocation& call) { return RunWhatIf(context, *flags, call); });
}

}  // namespace arena
