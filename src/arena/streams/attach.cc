#include <fmt/format.h>
#include <unistd.h>

#include <memory>

#include "arena/app/complete_names.h"
#include "arena/app/trainer.h"
#include "arena/streams/exec_place.h"
#include "arena/streams/exec_session.h"
#include "arena/verbs.h"
#include "base/log.h"

namespace arena {
namespace {

using base::Code;
using base::Fail;

struct AttachFlags {
  std::string type, instance, container;
};

base::Result<int> RunAttach(Context& context, const AttachFlags& flags, cli::Invocation& call) {
  TRY_ASSIGN(cluster::Client * client, context.connect(context));
  TRY_ASSIGN(
      const ExecPlace place,
      FindExecPlace(*client, context, {call.args[0], flags.type, flags.instance, flags.container}));
  cluster::ExecOptions options;
  options.container = place.container;
  options.command.assign(call.args.begin() + 1, call.args.end());
  if (options.command.empty()) options.command = {"sh"};
  options.has_stdin = true;
  const bool is_input_terminal = ::isatty(STDIN_FILENO) == 1;
  // A terminal would put carriage returns into a file.
  options.has_tty = is_input_terminal && call.out.IsTerminal();
  TRY(call.err.Write(context.program == "arena"
                         ? fmt::format("Hello! Arena attach the container {} of instance {}\n",
                                       options.container, place.instance)
                         : fmt::format("Attached to the container {} of instance {}\n",
                                       options.container, place.instance)));
  if (!is_input_terminal) {
    TRY(call.err.Write(
        "Unable to use a TTY - input is not a terminal or the right kind of file\n"));
  }
  TRY_ASSIGN(const std::unique_ptr<cluster::ExecStream> stream,
             client->Exec(place.namespace_name, place.instance, options));
  auto ended = CarrySession(*stream, {STDIN_FILENO, call.out, call.err, options.has_tty});
  if (!ended && ended.error().code == Code::kUnavailable) {
    // It is not known whether it had started, or what it had done.
    return Fail(ended.error().code,
                fmt::format("the server went away while the command ran in {} ({}): it is not run "
                            "a second time",
                            place.instance, ended.error().message));
  }
  if (ended && *ended != 0 && context.program == "arena") {
    // Arena's own exit code is 1 whatever the command's was.
    base::LogError("command terminated with exit code {}", *ended);
  }
  return ended;
}

}  // namespace

void AddAttach(cli::Command& root, Context& context) {
  cli::Command& verb = root.Add("attach JOB [-- COMMAND [ARG...]]",
                                "Run a shell or another command in an instance of a job")
                           .Aliases({"exec"})
                           .UnknownFlagHint("if it belongs to COMMAND, put COMMAND after --");
  verb.Help("arena/streams/attach", context.program);
  auto flags = std::make_shared<AttachFlags>();
  cli::FlagSet& set = verb.flags();
  AddTypeFlag(set, &flags->type);
  AddInstanceFlag(set, &flags->instance, context);
  set.String(&flags->container, "container", "", "the container of the instance").Short('c');
  verb.Check([flags](cli::Invocation& call) -> base::Status {
    if (call.args.empty() || call.args[0].empty() || call.dash == 0U) {
      if (!call.command.is_arena()) {
        return Fail(Code::kInvalidArgument, "JOB is missing: " + call.command.UseLine());
      }
      return Fail(Code::kInvalidArgument,
                  "expected 'attach JOB_NAME [ARG1] [ARG2] ... [ARGN]'.\nJOB_NAME is required "
                  "argument for the attach command");
    }
    TRY(MeansPyTorch(flags->type));
    return {};
  });
  CompleteOneJob(verb, context);
  verb.Run([flags, &context](cli::Invocation& call) { return RunAttach(context, *flags, call); });
}

}  // namespace arena
