// `report`: shows where the time of a run went, or of all runs since some time ago.
#include <fmt/format.h>

#include <memory>

#include "arena/app/complete_names.h"
#include "arena/history/report_output.h"
#include "arena/history/reports.h"
#include "arena/jobs/job_output.h"
#include "arena/verbs.h"
#include "base/log.h"

namespace arena {
namespace {

constexpr const char* kUsualSince = "7d";

struct ReportFlags {
  std::string since, by, output;
  bool all_namespaces = false;
};

base::Result<int> RunReportVerb(Context& context, const ReportFlags& flags, cli::Invocation& call) {
  TRY_ASSIGN(const Format format, FormatOf(flags.output, call));
  if (IsForMachines(format)) KeepOutputPure(context);
  TRY_ASSIGN(cluster::Client * client, context.connect(context));
  if (!call.args.empty()) {
    TRY_ASSIGN(RunRecord run, FindRun(*client, context, call.args[0]));
    if (run.job.hidden_pods) return base::Fail(*run.job.hidden_pods);
    const RunReport report = ReportOn(*client, context, std::move(run));
    const std::string& status = report.run.job.summary.status;
    TRY(call.out.Write(IsForMachines(format)
                           ? RenderDocument(ReportToJson(report), format)
                           : RenderReport(report, PainterFor(context, call)(status))));
    return 0;
  }
  TRY_ASSIGN(const base::Duration since,
             ReadSince(flags.since.empty() ? kUsualSince : flags.since));
  TRY_ASSIGN(
      const std::vector<RunReport> reports,
      ReportsSince(*client, context, flags.all_namespaces ? "" : context.Namespace(), since));
  TRY(call.out.Write(IsForMachines(format)
                         ? RenderDocument(ReportsToJson(reports, flags.by), format)
                         : RenderReports(reports, flags.by)));
  if (!context.cluster_is_this_machine) {
    base::LogInfo(
        "only existing jobs: deleted ones are remembered by the embedded cluster "
        "alone");
  }
  return 0;
}

}  // namespace

void AddReport(cli::Command& root, Context& context) {
  cli::Command& verb =
      root.Add("report [RUN]", "Show how a run spent its time: goodput, waste, what would help")
          .Args(cli::MaxArgs(1))
          .Help("arena/history/report", context.program);
  auto flags = std::make_shared<ReportFlags>();
  verb.flags().String(&flags->since, "since", "",
                      "all runs that are active or ended in this `TIME`: 7d, 2w, 12h");
  verb.flags()
      .String(&flags->by, "by", "", "one row per user, queue or label=KEY")
      .Choices({"user", "queue", "label="});
  verb.flags()
      .Bool(&flags->all_namespaces, "all-namespaces", false, "in every namespace")
      .Short('A');
  AddDocumentFlag(verb.flags(), &flags->output);
  verb.Check([flags](cli::Invocation& call) -> base::Status {
    TRY(FormatOf(flags->output, call));
    TRY(CheckGrouping(flags->by));
    if (!flags->since.empty()) TRY(ReadSince(flags->since));
    const char* other = !flags->since.empty()   ? "--since"
                        : !flags->by.empty()    ? "--by"
                        : flags->all_namespaces ? "--all-namespaces"
                                                : nullptr;
    if (call.args.empty() || other == nullptr) return {};
    return base::Fail(base::Code::kInvalidArgument,
                      fmt::format("{} is for all runs: give it without RUN", other));
  });
  CompleteOneJob(verb, context);
  verb.Run(
      [flags, &context](cli::Invocation& call) { return RunReportVerb(context, *flags, call); });
}

}  // namespace arena
