#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "answers/files/read_log.h"
#include "answers/finding.h"
#include "answers/stall/stall.h"
#include "base/launcher_report.h"
#include "base/machine/signal_name.h"
#include "base/strings.h"
#include "launch/failure/failure_report.h"
#include "text/json.h"

namespace launch {
namespace {

constexpr size_t kStackLines = 14;
constexpr size_t kTailLines = 8;
constexpr size_t kWidestLine = 160;
constexpr size_t kJudgedLines = 500;
// A container's message, from which the job's status is read, is the last 4 KiB of its log.
constexpr size_t kLongestCause = 600;
constexpr std::string_view kHeader = "Traceback (most recent call last):\n";

constexpr std::string_view kWhatKeepsWaiting =
    "ranks that take other branches, or wait for a file, a lock or a server, keep the others "
    "waiting";

// Failures that concern the launcher's own flags; `answers` knows the rest.
struct KnownError {
  std::string_view text;
  std::string_view kind;
  std::string_view advice;
};
constexpr std::array kKnownErrors = std::to_array<KnownError>({
    {"unrecognized arguments: --local-rank", "arguments",
     "the script does not know --local-rank: read LOCAL_RANK from the environment and start it "
     "with --use-env"},
    {"unrecognized arguments: --local_rank", "arguments",
     "the script does not know --local_rank: read LOCAL_RANK from the environment and start it "
     "with --use-env"},
    {"No module named 'torch'", "import",
     "this interpreter has no torch: activate the environment that has it, or name it with "
     "--python"},
    {"can't find '__main__' module", "arguments",
     "a folder or an archive is started by its __main__.py, and it has none"},
    {"is a package and cannot be directly executed", "arguments",
     "-m starts a package by its __main__.py, and it has none: name the module in it"},
    {".sh\", line ", "arguments",
     "Python was given a shell script: --no-python starts it as a program"},
});

const KnownError* FindKnownError(std::string_view text) {
  const auto found = std::find_if(
      kKnownErrors.begin(), kKnownErrors.end(),
      [&](const KnownError& known) { return text.find(known.text) != std::string_view::npos; });
  return found == kKnownErrors.end() ? nullptr : &*found;
}

// Whether it is an exception of Python's about the end of a connection, which may be one to a
// server or a child. The rank that failed first has lost no rank by it.
bool IsOfAnyConnection(std::string_view exception) {
  static constexpr auto kTypes = std::to_array<std::string_view>(
      {"ConnectionResetError", "ConnectionAbortedError", "BrokenPipeError", "EOFError"});
  return std::any_of(kTypes.begin(), kTypes.end(),
                     [exception](std::string_view type) { return exception.starts_with(type); });
}

// The launcher's own advice is part of a sentence. CUDA_LAUNCH_BLOCKING stays as it is.
std::string AsPart(std::string_view advice) {
  std::string part(advice);
  if (part.size() > 1 && std::isupper(static_cast<unsigned char>(part[1])) == 0) {
    part[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(part[0])));
  }
  if (part.ends_with('.')) part.pop_back();
  return part;
}

// Sets the kind and the advice by what the worker printed, if a rule decides them. `text` is the
// part of `tail` that ended it. Returns the line that decides; "" if a rule does not.
std::string Judge(const std::string& text, const std::string& tail, int exit_code,
                  Explanation& explanation) {
  if (const KnownError* const known = FindKnownError(text)) {
    explanation.kind = known->kind;
    explanation.advice = known->advice;
    return "";
  }
  answers::Rank rank;
  rank.exit_code = exit_code;
  rank.lines = answers::ReadLines(text, kJudgedLines);
  auto finding = answers::FindInRank(rank);
  if (finding && finding->kind == "unreachable") {
    // Lines above these may say that the host's name is not known.
    rank.lines = answers::ReadLines(tail, kJudgedLines);
    if (auto whole = answers::FindInRank(rank); whole && whole->kind == "dns") {
      explanation.cause = whole->line;
      finding = std::move(whole);
    }
  }
  if (!finding || finding->kind == answers::kUnknown || finding->kind == "exception") return "";
  if (finding->level == answers::Level::kPeerLost && IsOfAnyConnection(finding->line)) return "";
  explanation.kind = finding->kind;
  explanation.advice = AsPart(finding->advice_text);
  return finding->line;
}

std::string TracebackText(const Failure& failure) {
  if (failure.report && !failure.report->call_stack.empty()) return failure.report->call_stack;
  return FindTraceback(failure.stderr_tail);
}

std::string AdviceForSignal(int signal, std::string_view crash) {
  switch (signal) {
    case SIGKILL:
      return "the launcher did not send it: look for an administrator, a batch system's limit, or "
             "the "
             "kernel's log (dmesg)";
    case SIGSEGV:
    case SIGILL:
    case SIGFPE:
      if (!crash.empty()) return "native code crashed: suspect extensions built for another torch";
      return "native code crashed: set PYTHONFAULTHANDLER=1 for the Python stack, and suspect "
             "extensions built for another torch";
    case SIGBUS:
      return "shared memory is probably full: make /dev/shm larger, or use fewer data loader "
             "workers";
    case SIGABRT:
      return "native code aborted: its reason is in the lines above (NCCL's watchdog does this "
             "after its time-out)";
    case SIGUSR1:
    case SIGUSR2:
      return "the launcher passes it on to the ranks, and this program has no handler for it: "
             "install one, or do not send the signal";
    default:
      return "somebody sent the signal to this process alone: a signal for the job goes to the "
             "launcher";
  }
}

Explanation ExplainSignal(const Failure& root) {
  if (root.has_lost_loss) {
    return {root.standstill,
            "nan",
            {},
            "lower the learning rate, clip gradients, look at the data of that step: a retry gives "
            "the same"};
  }
  if (root.has_stalled) {
    return {root.standstill,
            "stalled",
            {},
            "look at the stacks in the log: " + std::string(kWhatKeepsWaiting)};
  }
  if (!root.standstill.empty()) {
    return {root.standstill,
            "uninterruptible-sleep",
            {},
            "the kernel waits for a device or a file server: look at its log (dmesg), the GPU's "
            "driver and network file systems before this machine gets work again"};
  }
  const int signal = -root.exit_code;
  if (root.was_out_of_memory) {
    return {"killed by the kernel for want of memory (SIGKILL)",
            "out-of-memory",
            {},
            "give the job more memory, or use less: smaller batches, fewer data loader workers"};
  }
  return {fmt::format("ended by signal {} ({})", signal, base::SignalName(signal)),
          "signal",
          {},
          AdviceForSignal(signal, root.crash)};
}

std::vector<std::string> EvidenceOf(const Failure& root, const std::string& traceback) {
  std::vector<std::string> lines = traceback.empty() ? LastLines(root.stderr_tail, kTailLines)
                                                     : LastLines(traceback, kStackLines);
  for (std::string& line : lines) {
    if (line.size() > kWidestLine) line = line.substr(0, kWidestLine - 3) + "...";
  }
  return lines;
}

std::string CauseOf(const Failure& root, const std::string& traceback) {
  if (root.report && !root.report->message.empty()) {
    return base::Split(root.report->message, '\n')[0];
  }
  if (!traceback.empty()) {
    // The message may have several lines: the exception's own is the first that is not indented.
    const auto lines = base::Split(traceback, '\n');
    const auto found = std::find_if(lines.begin() + 1, lines.end(), [](const std::string& line) {
      return !line.empty() && line[0] != ' ';
    });
    if (found != lines.end()) return *found;
  }
  // The program had not begun: no traceback.
  std::string last = LastLine(root.stderr_tail);
  if (last.starts_with("SyntaxError: ") || last.starts_with("IndentationError: ")) return last;
  const std::string code = fmt::format("exit code {}", ExitCodeOf(root));
  // sys.exit("words") prints it like this. It is a guess, and the text says so.
  return last.empty() ? code : fmt::format("{}, its last line: {}", code, base::OneLine(last, 300));
}

text::Object DescribeFailure(const Failure& failure) {
  return {
      {"rank", failure.rank},
      {"local_rank", failure.local_rank},
      {"host", failure.host},
      {"pid", failure.pid},
      {"exit_code", failure.exit_code},
      {"signal", failure.IsSignal() ? text::Json(base::SignalName(-failure.exit_code)) : nullptr},
      {"time", base::FormatRfc3339Micro(failure.time)},
      {"stopped_by_launcher", failure.was_stopped_by_us}};
}

}  // namespace

Explanation Explain(const Failure& root, const FailureContext& context) {
  const std::string traceback = TracebackText(root);
  Explanation explanation;
  const bool is_signals =
      root.IsSignal() && !WasEndingByException(root) && !WasAbortedByException(root);
  if (is_signals || !root.standstill.empty()) {
    explanation = ExplainSignal(root);
    if (explanation.kind == "signal" && root.exit_code == -SIGABRT) {
      // A program that aborts has said why.
      const std::string said = Judge(base::Join(LastLines(root.stderr_tail, kTailLines), "\n"),
                                     root.stderr_tail, ExitCodeOf(root), explanation);
      if (said.find("ssertion") != std::string::npos) explanation.cause = said;
    }
  } else {
    explanation.cause = CauseOf(root, traceback);
    const bool is_exception = !traceback.empty() || root.report.has_value();
    explanation.kind = is_exception ? "exception" : "exit-code";
    explanation.advice =
        is_exception
            ? "fix what the last line reports; --max-restarts helps only with errors that go away"
            : "the program ended itself: its own output says why";
    const std::string text =
        traceback.empty()
            ? (root.report ? std::string(kHeader) + root.report->message + "\n" : std::string()) +
                  base::Join(LastLines(root.stderr_tail, kTailLines), "\n")
            : traceback;
    if (text.empty() && context.is_log_disk_full) {
      explanation.kind = "disk-full";
      explanation.cause += ", and the log folder's disk is full";
      explanation.advice = "free space, or name another folder with --log-dir";
    } else {
      Judge(text, root.stderr_tail, ExitCodeOf(root), explanation);
      if (explanation.kind == "import" && !context.python.empty()) {
        explanation.advice += fmt::format(" (it was {})", context.python);
      }
    }
  }
  if (!context.ended_early.empty() && WaitedForPeers(root)) {
    explanation.kind = "ended-early";
    explanation.cause =
        fmt::format("rank {} had ended with exit code 0 while rank {} still waited for it ({})",
                    fmt::join(context.ended_early, ", "), root.rank, explanation.cause);
    explanation.advice =
        "every rank has to take part in each collective call: find out why it ended so early "
        "(fewer batches than the others, a return on one rank only, or a smaller tensor in its "
        "last "
        "call: gloo lets that rank go on)";
  }
  if (context.ended_early.empty() && !context.stall.empty() && WaitedForPeers(root)) {
    explanation.cause = fmt::format("{} ({})", context.stall, explanation.cause);
    if (context.stall.starts_with("stalled")) {
      explanation.kind = "stalled";
      explanation.advice =
          fmt::format("look at the line where that rank was: {}", kWhatKeepsWaiting);
    } else if (answers::NamesLateRank(context.stall) &&
               context.stall.find(answers::kEnteredByThreads) == std::string::npos) {
      explanation.advice = AsPart(answers::kAdviceOnSlowRank);
    }
  }
  if (root.is_elsewhere && root.stderr_tail.empty() &&
      (explanation.kind == "exit-code" || explanation.kind == "exception")) {
    explanation.advice = fmt::format("what it printed is on {}, where it ran", root.host);
  }
  explanation.evidence = EvidenceOf(root, traceback);
  return explanation;
}

std::string ExplainText(const std::vector<Failure>& failures, const FailureContext& context) {
  const Failure& root = failures[FindRootCause(failures)];
  const Explanation explanation = Explain(root, context);
  std::string text = fmt::format("{}: rank {} of {}{}{}, {}host {})\n", context.title, root.rank,
                                 context.world_size, base::kReportHeading, root.local_rank,
                                 root.pid == 0 ? "" : fmt::format("pid {}, ", root.pid), root.host);
  text +=
      fmt::format("  {}{}\n", base::kReportWhy, base::OneLine(explanation.cause, kLongestCause));
  if (!root.crash.empty()) text += fmt::format("  where     : {}\n", root.crash);
  for (size_t i = 0; i < explanation.evidence.size(); ++i) {
    text +=
        fmt::format("  {}: {}\n", i == 0 ? "evidence  " : "          ", explanation.evidence[i]);
  }
  text += fmt::format("  what to do: {}\n", explanation.advice);
  const auto stopped = std::count_if(failures.begin(), failures.end(), [&](const Failure& f) {
    return &f != &root && f.was_stopped_by_us;
  });
  const auto others = static_cast<ptrdiff_t>(failures.size()) - stopped - 1;
  if (others > 0) text += fmt::format("  others    : {} failed too\n", others);
  if (stopped > 0) text += fmt::format("  ended     : {} more, because of it\n", stopped);
  if (context.max_restarts > 0) {
    text +=
        fmt::format("  restarts  : {} of {} used\n", context.restarts_used, context.max_restarts);
  }
  if (!context.stderr_file.empty()) text += fmt::format("  stderr    : {}\n", context.stderr_file);
  if (!context.report_file.empty()) text += fmt::format("  report    : {}\n", context.report_file);
  return text;
}

std::string FailureJson(const std::vector<Failure>& failures, const FailureContext& context) {
  const Failure& root = failures[FindRootCause(failures)];
  const Explanation explanation = Explain(root, context);
  const std::vector<std::string> last_lines = LastLines(root.stderr_tail, kStackLines);
  text::Object cause = DescribeFailure(root);
  cause["class"] = explanation.kind;
  cause["message"] = explanation.cause;
  cause["advice"] = explanation.advice;
  cause["crash"] = root.crash.empty() ? text::Json(nullptr) : text::Json(root.crash);
  cause["traceback"] = TracebackText(root);
  cause["last_stderr_lines"] = text::Array(last_lines.begin(), last_lines.end());
  text::Array all;
  for (const Failure& failure : failures) all.push_back(DescribeFailure(failure));
  return text::ToJson(text::Object{{"program", context.title},
                                   {"world_size", context.world_size},
                                   {"restarts_used", context.restarts_used},
                                   {"max_restarts", context.max_restarts},
                                   {"root_cause", std::move(cause)},
                                   {"failures", std::move(all)}}) +
         "\n";
}

}  // namespace launch
