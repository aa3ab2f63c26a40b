#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>

#include "api/object.h"
#include "arena/app/ownership.h"
#include "arena/app/trainer.h"
#include "arena/jobs/job_news.h"
#include "arena/jobs/job_output.h"
#include "arena/listing/history.h"
#include "arena/listing/machine_output.h"
#include "arena/listing/other_jobs.h"
#include "arena/verbs.h"
#include "base/log.h"
#include "base/strings.h"

namespace arena {
namespace {

struct ListFlags {
  std::string type, output, selector;
  bool all_namespaces = false, with_gone = false, is_watch = false;
};

std::string CellText(const text::Json& cell) {
  if (const auto* string = cell.if_string()) return std::string(*string);
  return cell.is_null() ? "" : text::ToJson(cell);
}

// The rows of a table that the embedded server rendered; nullopt when it does not have its columns.
std::optional<std::vector<ListRow>> RowsOfTable(const cluster::Table& table, bool with_namespace) {
  const auto column = [&](std::string_view name) -> std::optional<size_t> {
    for (size_t i = 0; i < table.columns.size(); ++i) {
      if (table.columns[i].name == name) return i;
    }
    return std::nullopt;
  };
  struct Field {
    std::string_view name;
    std::string ListRow::* member;
  };
  std::vector<Field> fields = {{"Name", &ListRow::name},
                               {"Status", &ListRow::status},
                               {"Trainer", &ListRow::trainer},
                               {"Age", &ListRow::age},
                               {"Duration", &ListRow::duration},
                               {"GPU(Requested)", &ListRow::requested_gpus},
                               {"GPU(Allocated)", &ListRow::allocated_gpus},
                               {"Node", &ListRow::node}};
  if (with_namespace) fields.push_back({"Namespace", &ListRow::namespace_name});
  const std::optional<size_t> created = column("Created");
  const std::optional<size_t> stall = column("Stall");  // of a daemon that is not older than this
  std::vector<size_t> positions;
  for (const Field& field : fields) {
    const std::optional<size_t> position = column(field.name);
    if (!position) return std::nullopt;
    positions.push_back(*position);
  }
  if (!created) return std::nullopt;

  std::vector<std::pair<std::string, ListRow>> rows;
  for (const std::vector<text::Json>& cells : table.rows) {
    if (cells.size() < table.columns.size()) return std::nullopt;
    ListRow row;
    for (size_t i = 0; i < fields.size(); ++i)
      row.*fields[i].member = CellText(cells[positions[i]]);
    if (stall) row.stall = CellText(cells[*stall]);
    rows.emplace_back(CellText(cells[*created]), std::move(row));
  }
  // RFC 3339 in UTC sorts as text.
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<ListRow> result;
  for (auto& [key, row] : rows) result.push_back(std::move(row));
  return result;
}

std::vector<ListRow> InProgramsWords(const Context& context, std::vector<ListRow> rows) {
  for (ListRow& row : rows) {
    api::TrainingSummary summary;
    summary.status = std::move(row.status);
    UseProgramsWords(context, summary);
    row.status = std::move(summary.status);
  }
  return rows;
}

base::Result<std::vector<ListRow>> FetchRows(cluster::Client& client, const Context& context,
                                             const std::string& namespace_name,
                                             const ListFlags& flags) {
  // Only the embedded server renders Arena's columns; elsewhere asking for them costs a list.
  if (context.cluster_is_this_machine) {
    cluster::ListOptions options;
    options.namespace_name = namespace_name;
    std::string selector(ListedJobs(context));
    if (!selector.empty() && !flags.selector.empty()) selector += ',';
    selector += flags.selector;
    TRY_ASSIGN(options.label_selector, VisibleSelector(client, context, selector));
    auto table = client.GetTable(api::kPyTorchJobs, options);
    if (table) {
      if (auto rows = RowsOfTable(*table, namespace_name.empty())) {
        return InProgramsWords(context, *std::move(rows));
      }
    } else if (table.error().code != base::Code::kInternal) {
      return base::Fail(ListError(std::move(table.error()), namespace_name));
    }
  }
  // A server that has other columns, or no tables: its objects say the same.
  TRY_ASSIGN(const std::vector<TrainingJob> jobs,
             ListJobsOfType(client, context, namespace_name, flags.type, flags.selector));
  std::vector<ListRow> rows;
  for (const TrainingJob& job : jobs) rows.push_back(ToListRow(job.summary, context.clock.Now()));
  return rows;
}

// Never freed: the program ends after this, and freeing the objects of ten thousand jobs would take
// a fifth of its time.
const std::vector<TrainingJob>& KeepToTheEnd(std::vector<TrainingJob> jobs) {
  static std::vector<std::vector<TrainingJob>>* const kept =
      new std::vector<std::vector<TrainingJob>>();
  return kept->emplace_back(std::move(jobs));
}

// On stderr, because the table on stdout has Arena's columns.
void WarnOfStalls(const Context& context, const std::vector<ListRow>& rows) {
  if (context.program == "arena") return;
  for (const ListRow& row : rows) {
    if (!row.stall.empty()) base::LogWarn("{}: {}", row.name, row.stall);
  }
}

// An empty table on a terminal, where no script reads: jobs that others made are not Arena's, and
// are shown by `get` only.
void HintAtOthers(cluster::Client& client, const Context& context,
                  const std::string& namespace_name) {
  cluster::ListOptions options;
  options.namespace_name = namespace_name;
  options.label_selector = "!release,!arena.kubeflow.org/uid";
  const auto others = client.List(api::kPyTorchJobs, options);
  if (!others || others->items.empty()) return;
  const text::Json& first = others->items[0];
  const size_t count = others->items.size();
  base::LogInfo(
      "{} not made by `{} submit`, and not listed: `{} get {} -n {}` shows {}",
      count == 1 ? "1 PyTorchJob here was" : fmt::format("{} PyTorchJobs here were", count),
      context.program, context.program, api::Name(first), api::Namespace(first),
      count == 1 ? "it" : "one");
}

// The table, and then each row of it that has changed, for ever. A change of ages alone is not
// shown.
base::Status WatchList(cluster::Client& client, const Context& context, const ListFlags& flags,
                       Format format, cli::Invocation& call) {
  constexpr std::chrono::milliseconds kAtLeast{200};
  const std::string namespace_name = flags.all_namespaces ? "" : context.Namespace();
  JobNews news(client, namespace_name);
  std::map<std::string, ListRow> shown;
  for (bool is_first = true;; is_first = false) {
    TRY(news.Await(kAtLeast));
    TRY_ASSIGN(std::vector<ListRow> rows, FetchRows(client, context, namespace_name, flags));
    std::map<std::string, ListRow> gone = std::exchange(shown, {});
    std::vector<bool> is_news;
    for (const ListRow& row : rows) {
      const std::string key = row.namespace_name + "/" + row.name;
      const auto before = gone.find(key);
      is_news.push_back(before == gone.end() || before->second.status != row.status ||
                        before->second.node != row.node);
      gone.erase(key);
      shown.emplace(key, row);
    }
    for (auto& [key, row] : gone) {
      row.status = kDeletedStatus;
      rows.push_back(std::move(row));
      is_news.push_back(true);
    }
    const std::string table =
        RenderList(rows, format, flags.all_namespaces, PainterFor(context, call));
    if (is_first) {
      TRY(Print(context, call, table));
      continue;
    }
    const std::vector<std::string> lines = base::Split(table, '\n');  // the first is the head
    for (size_t i = 0; i < is_news.size() && i + 1 < lines.size(); ++i) {
      if (is_news[i]) TRY(call.out.Write(lines[i + 1] + "\n"));
    }
  }
}

base::Result<int> RunList(Context& context, const ListFlags& flags, cli::Invocation& call) {
  TRY_ASSIGN(const Format format, FormatOf(flags.output, call));
  if (flags.with_gone) {
    return PrintHistory(context, {flags.all_namespaces, flags.output}, call);
  }
  TRY_ASSIGN(const bool is_pytorch, MeansPyTorch(flags.type));
  if (IsForMachines(format)) KeepOutputPure(context);
  TRY_ASSIGN(cluster::Client * client, context.connect(context));
  const std::string namespace_name = flags.all_namespaces ? "" : context.Namespace();
  if (flags.is_watch) return base::Fail(WatchList(*client, context, flags, format, call).error());
  if (!IsForMachines(format)) {
    std::vector<ListRow> rows;
    if (is_pytorch || !context.cluster_is_this_machine) {
      TRY_ASSIGN(rows, FetchRows(*client, context, namespace_name, flags));
    }
    TRY(Print(context, call,
              RenderList(rows, format, flags.all_namespaces, PainterFor(context, call))));
    WarnOfStalls(context, rows);
    const bool lists_all = ListedJobs(context).empty();
    if (rows.empty() && is_pytorch && !lists_all && call.out.IsTerminal() &&
        call.err.IsTerminal()) {
      HintAtOthers(*client, context, namespace_name);
    }
    return 0;
  }
  TRY_ASSIGN(std::vector<TrainingJob> listed,
             ListJobsOfType(*client, context, namespace_name, flags.type, flags.selector));
  const std::vector<TrainingJob>& jobs = KeepToTheEnd(std::move(listed));
  TRY(call.out.Write(RenderJobs(*client, context, jobs, namespace_name, format)));
  return 0;
}

}  // namespace

void AddList(cli::Command& root, Context& context) {
  const bool lists_all = ListedJobs(context).empty();
  cli::Command& verb = root.Add("list", "List the training jobs")
                           .Aliases({"ls"})
                           .Args(cli::NoArgs())
                           .Help("arena/listing/list", context.program);
  auto flags = std::make_shared<ListFlags>();
  cli::FlagSet& set = verb.flags();
  set.String(&flags->type, "type", "", "kind of jobs: pytorchjob; on Kubernetes tfjob, mpijob, ...")
      .Short('T')
      .Choices(TypesToOffer());
  set.Bool(&flags->all_namespaces, "all-namespaces", false, "in every namespace")
      .Short('A')
      .OldName("allNamespaces");
  if (lists_all) {
    set.Bool(&flags->with_gone, "all", false, "include deleted runs, like history");
    set.Bool(&flags->is_watch, "watch", false,
             "keep running, and print each job whose state changes")
        .Short('w');
    set.String(&flags->selector, "selector", "", "the jobs with these labels: a=b,c!=d").Short('l');
  }
  set.String(&flags->output, "output", "", "wide (durations and GPUs), json or yaml")
      .Short('o')
      .Choices({"json", "yaml", "wide"});
  verb.Check([flags](cli::Invocation& call) -> base::Status {
    TRY(FormatOf(flags->output, call));
    TRY(MeansPyTorch(flags->type));
    if (call.command.Changed("selector")) {
      TRY(CheckSelector(flags->selector));
      if (flags->with_gone) {
        return base::Fail(base::Code::kInvalidArgument,
                          "--all has deleted runs, whose labels are gone: leave out --selector");
      }
    }
    const char* other = flags->with_gone                                    ? "--all"
                        : !flags->output.empty() && flags->output != "wide" ? "-o"
                                                                            : nullptr;
    if (!flags->is_watch || other == nullptr) return {};
    return base::Fail(base::Code::kInvalidArgument,
                      fmt::format("--watch prints a table of existing jobs: leave out {}", other));
  });
  verb.Run([flags, &context](cli::Invocation& call) { return RunList(context, *flags, call); });
}

}  // namespace arena
