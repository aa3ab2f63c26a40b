// `stacks`: shows where the ranks of a running job stand.
#include "witness/stacks.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>

#include "answers/stall/stack.h"
#include "api/object.h"
#include "arena/app/complete_names.h"
#include "arena/jobs/job_output.h"
#include "arena/jobs/jobs.h"
#include "arena/logs/rank_lines.h"
#include "arena/verbs.h"
#include "base/log.h"
#include "base/strings.h"
#include "process/procfs.h"

namespace arena {
namespace {

constexpr std::chrono::milliseconds kLongestAnswer{2000};

struct StacksFlags {
  std::string output;
  std::string ranks;
  int64_t pid = 0;
  bool has_all = false;
};

struct Stander {
  std::string instance;  // "" if the process is not in a pod
  std::string folder;
  witness::Asked process;
  std::string dump;
  bool is_busy = false;  // its other threads were not asked for (witness::Threads)

  std::string Name() const {
    const std::string who = process.rank >= 0 ? fmt::format("rank {}", process.rank)
                                              : fmt::format("pid {}", process.pid);
    std::string where = instance;
    if (process.rank >= 0) where += fmt::format("{}pid {}", where.empty() ? "" : ", ", process.pid);
    if (process.is_child) where += fmt::format("{}forked", where.empty() ? "" : ", ");
    return where.empty() ? who : fmt::format("{} ({})", who, where);
  }
};

base::Result<std::vector<Stander>> OfJob(cluster::Client& client, const Context& context,
                                         const std::string& name) {
  TRY_ASSIGN(const TrainingJob job, FindJob(client, context, context.Namespace(), name));
  if (job.summary.status != "RUNNING") {
    return base::Fail(
        base::Code::kInvalidArgument,
        fmt::format("the job {} is {}: only a running job has stacks", name, job.summary.status));
  }
  std::vector<Stander> found;
  for (const text::Json& pod : job.pods) {
    const std::string folder = witness::FolderOfPod(context.environment.StateDir(), api::Uid(pod));
    for (const witness::Asked& process : witness::ProcessesIn(folder)) {
      found.push_back({std::string(api::Name(pod)), folder, process, "", false});
    }
  }
  if (found.empty()) {
    return base::Fail(
        base::Code::kNotFound,
        fmt::format(
            "no process of {0} reports its stack: Python processes that this machine started do; "
            "of other programs `{1} get {0} --ranks` says what the kernel knows; in a pod "
            "elsewhere, use py-spy if the image has it: `{1} attach {0} -- py-spy dump --pid 1`",
            name, context.program));
  }
  return found;
}

base::Result<std::vector<Stander>> OfProcess(pid_t pid) {
  std::vector<pid_t> pids = {pid};
  for (const process::ProcessStat& below : process::Descendants(pid)) pids.push_back(below.pid);
  std::set<std::string> folders;
  for (const pid_t each : pids) {
    const std::string folder = witness::FolderOf(each);
    if (!folder.empty()) folders.insert(folder);
  }
  std::vector<Stander> found;
  for (const std::string& folder : folders) {
    for (const witness::Asked& process : witness::ProcessesIn(folder)) {
      if (std::find(pids.begin(), pids.end(), process.pid) == pids.end()) continue;
      found.push_back({"", folder, process, "", false});
    }
  }
  if (found.empty()) {
    return base::Fail(base::Code::kNotFound,
                      fmt::format("neither process {} nor one below it reports its stack: only the "
                                  "ranks of `muster launch` do, if there are two or more",
                                  pid));
  }
  return found;
}

void Ask(std::vector<Stander>& standers, witness::Threads threads) {
  witness::PidsByFolder by_folder;
  for (const Stander& each : standers) by_folder[each.folder].push_back(each.process.pid);
  witness::Question question(by_folder, threads);
  std::map<pid_t, std::string> dumps = question.Await(kLongestAnswer);
  const std::set<pid_t> busy = question.Busy();
  for (Stander& each : standers) {
    each.dump = std::move(dumps[each.process.pid]);
    each.is_busy = busy.contains(each.process.pid);
  }
}

text::Json FrameToJson(const answers::Frame& frame) {
  return text::Object{{"function", frame.function}, {"file", frame.file}, {"line", frame.line}};
}

// The format is in docs/reference/json.md, "stacks".
text::Json StandersToJson(const std::vector<Stander>& standers) {
  text::Array array;
  for (const Stander& each : standers) {
    text::Array threads;
    for (const answers::ThreadStack& stack : answers::ReadStacks(each.dump)) {
      text::Array frames;
      for (const answers::Frame& frame : stack.frames) frames.push_back(FrameToJson(frame));
      threads.push_back(text::Object{
          {"main", stack.is_main}, {"name", stack.name}, {"frames", std::move(frames)}});
    }
    array.push_back(text::Object{
        {"rank", each.process.rank >= 0 ? text::Json(each.process.rank) : text::Json(nullptr)},
        {"instance", each.instance},
        {"pid", each.process.pid},
        {"child", each.process.is_child},
        {"threads", std::move(threads)}});
  }
  return array;
}

base::Result<int> RunStacks(Context& context, const StacksFlags& flags, cli::Invocation& call) {
  TRY_ASSIGN(const Format format, FormatOf(flags.output, call));
  if (IsForMachines(format)) KeepOutputPure(context);
  std::vector<Stander> standers;
  if (flags.pid > 0) {
    TRY_ASSIGN(standers, OfProcess(static_cast<pid_t>(flags.pid)));
  } else {
    TRY_ASSIGN(cluster::Client * client, context.connect(context));
    TRY_ASSIGN(standers, OfJob(*client, context, call.args[0]));
  }
  if (!flags.ranks.empty()) {
    TRY_ASSIGN(const Ranks ranks, ParseRanks(flags.ranks));
    std::erase_if(standers, [&](const Stander& each) {
      return each.process.rank < 0 || !Contains(ranks, each.process.rank);
    });
    if (standers.empty()) {
      return base::Fail(base::Code::kNotFound,
                        fmt::format("--rank {}: no such rank runs here", flags.ranks));
    }
  }
  std::stable_sort(standers.begin(), standers.end(), [](const Stander& a, const Stander& b) {
    return std::pair(a.process.rank < 0, a.process.rank) <
           std::pair(b.process.rank < 0, b.process.rank);
  });
  Ask(standers, flags.has_all ? witness::Threads::kAll : witness::Threads::kMain);
  for (const Stander& each : standers) {
    if (!each.is_busy) continue;
    base::LogWarn(
        "{}: only its main thread is shown, because reading threads that run can crash it",
        each.Name());
  }
  if (IsForMachines(format)) {
    TRY(call.out.Write(RenderDocument(StandersToJson(standers), format)));
    return 0;
  }
  std::vector<answers::RankStack> stacks;
  for (Stander& each : standers) {
    stacks.push_back(
        {each.Name(), std::move(each.dump),
         fmt::format("gave no stack within {} s",
                     std::chrono::duration_cast<std::chrono::seconds>(kLongestAnswer).count())});
  }
  TRY(call.out.Write(answers::RenderStacks(stacks, flags.has_all)));
  return 0;
}

}  // namespace

void AddStacks(cli::Command& root, Context& context) {
  cli::Command& verb = root.Add("stacks JOB", "Show the Python stacks of a running job's ranks")
                           .Args(cli::MaxArgs(1))
                           .Help("arena/history/stacks", context.program);
  auto flags = std::make_shared<StacksFlags>();
  verb.flags().String(&flags->ranks, "rank", "", "only these `RANKS`: 3,5-7");
  verb.flags().Int(&flags->pid, "pid", 0,
                   "the ranks of the launcher with this process ID, instead of a job");
  verb.flags().Bool(&flags->has_all, "all-threads", false,
                    "also the other threads, where they can be read");
  AddDocumentFlag(verb.flags(), &flags->output);
  verb.Check([flags](cli::Invocation& call) -> base::Status {
    TRY(FormatOf(flags->output, call));
    if (!flags->ranks.empty()) TRY(ParseRanks(flags->ranks));
    if ((flags->pid > 0) != call.args.empty()) {
      return base::Fail(base::Code::kInvalidArgument, "stacks takes one job, or --pid");
    }
    return {};
  });
  verb.CompleteArgs(
      [&context](cli::Invocation&, std::string_view) { return CompleteJobNames(context); });
  verb.Run([flags, &context](cli::Invocation& call) { return RunStacks(context, *flags, call); });
}

}  // namespace arena
