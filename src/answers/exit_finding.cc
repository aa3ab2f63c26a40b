#include "answers/exit_finding.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <span>

#include "answers/program_words.h"
#include "answers/signal_words.h"
#include "answers/traceback.h"
#include "base/machine/signal_name.h"
#include "base/strings.h"

namespace answers {
namespace {

std::string LastWords(const Rank& rank) {
  const size_t last = LastSaid(rank.lines);
  if (last == rank.lines.size()) return "";
  return std::string(base::Trim(rank.lines[last].text).substr(0, 400));
}

// What libstdc++ prints of an exception that nothing caught, before it aborts; "" if it did not.
std::string_view WhatOfUncaught(const Rank& rank) {
  constexpr size_t kLastLines = 10;
  const std::span lines(rank.lines);
  for (const Line& line : lines.last(std::min(lines.size(), kLastLines))) {
    const std::string_view text = base::Trim(line.text);
    if (text.starts_with("what():  ")) return text;
  }
  return "";
}

// What an end by this signal says. If the level is kDeciding, the title names what went wrong in
// the program itself.
struct SignalEnd {
  int signal;
  std::string_view kind, title;
  Advice advice;
  std::string_view advice_text;
  Level level = Level::kUndecided;
};
constexpr auto kSignalEnds = std::to_array<SignalEnd>({
    {SIGSEGV, "native-crash", "native code crashed (SIGSEGV)", Advice::kFixFirst,
     "Set PYTHONFAULTHANDLER=1 for the Python stack; suspect extensions that were built for "
     "another torch.",
     Level::kDeciding},
    {SIGFPE, "native-crash", "native code divided by zero (SIGFPE)", Advice::kFixFirst,
     "Set PYTHONFAULTHANDLER=1 for the Python stack; look for an empty batch or a size of 0.",
     Level::kDeciding},
    {SIGTRAP, "native-crash", "native code stopped at a check of its own (SIGTRAP)",
     Advice::kFixFirst, "Set PYTHONFAULTHANDLER=1 for the Python stack.", Level::kDeciding},
    {SIGILL, "python-mismatch", "the program has an instruction that this processor lacks (SIGILL)",
     Advice::kRetryElsewhere, "Use packages built for this machine, or a newer machine.",
     Level::kDeciding},
    {SIGSYS, "permission", "it made a system call that its container forbids (SIGSYS)",
     Advice::kFixFirst, "Allow the call in the container's seccomp profile.", Level::kDeciding},
    {SIGXCPU, "deadline", "it used more processor time than it may (SIGXCPU)", Advice::kFixFirst,
     "Raise the limit (ulimit -t), or save checkpoints and go on from the last one.",
     Level::kDeciding},
    {SIGXFSZ, "disk-full", "it wrote a larger file than it may (SIGXFSZ)", Advice::kFixFirst,
     "Raise the limit (ulimit -f), or write smaller files.", Level::kDeciding},
    {SIGHUP, "stopped", "its terminal or session was closed (SIGHUP)", Advice::kNone,
     "Run it again when you want it to go on, with nohup, tmux or as a job.", Level::kConsequence},
    {SIGBUS, "native-crash",
     "it was killed by SIGBUS: a full /dev/shm or a file cut short does that", Advice::kFixFirst,
     "Check whether /dev/shm is full while it runs, and whether its files were cut short."},
    {SIGKILL, kUnknown, "it was killed by SIGKILL; these data do not say by whom", Advice::kNone,
     "Look at the kernel's log (dmesg) for an oom-kill, and at whoever may end processes here."},
    {SIGTERM, kUnknown, "it was asked to end (SIGTERM); these data do not say by whom",
     Advice::kNone, "", Level::kPeerLost},
    {SIGINT, kUnknown, "it was interrupted (SIGINT); these data do not say by whom", Advice::kNone,
     "", Level::kPeerLost},
    {SIGUSR1, kUnknown, "it did not handle SIGUSR1, which batch systems send before a time limit",
     Advice::kNone, "Handle the signal (save a checkpoint), or do not ask for it."},
    {SIGUSR2, kUnknown, "it did not handle SIGUSR2, which batch systems send before a time limit",
     Advice::kNone, "Handle the signal (save a checkpoint), or do not ask for it."},
    {SIGABRT, kUnknown, "native code gave up (SIGABRT)", Advice::kNone,
     "Its reason is in the lines before its end."},
});

constexpr int kTimeoutsExit =
    124;  // of coreutils' and busybox' `timeout`, when it ended its command

struct RankEnd {
  std::optional<int> code;     // ExitOf
  const Line* word = nullptr;  // a shell's report of a signal
};

// A shell's report counts if it is among the last lines and no work follows it.
RankEnd FindEnd(const Rank& rank) {
  constexpr size_t kLastWords = 10;
  RankEnd end{rank.exit_code};
  size_t words = 0;
  for (auto line = rank.lines.rbegin(); line != rank.lines.rend() && words < kLastWords; ++line) {
    const auto signal = SignalOfShell(line->text);
    const bool is_request = signal == SIGTERM || signal == SIGHUP;  // may be a helper's end
    if (signal && !(is_request && (rank.exit_code || IsOfScript(line->text)))) {
      end.word = &*line;
      if (end.code.value_or(0) < kSignalBase) end.code = kSignalBase + *signal;
      break;
    }
    if (IsProgress(line->text) || ReportsSuccess(line->text)) break;
    words += line->text.empty() ? 0 : 1;
  }
  return end;
}

// Whether nothing but SIGBUS is known, which a full /dev/shm explains.
bool IsOfBusError(const Finding& found) {
  return found.kind == "native-crash" && found.level == Level::kUndecided;
}

}  // namespace

std::optional<int> ExitOf(const Rank& rank) { return FindEnd(rank).code; }

Finding FindInExit(const Rank& rank) {
  Finding finding;
  finding.kind = kUnknown;
  finding.level = Level::kUndecided;
  finding.confidence = Confidence::kLow;
  finding.time = rank.ended;
  if (!rank.lines.empty()) finding.order = rank.lines.back().order;
  const RankEnd how = FindEnd(rank);
  const int code = how.code.value_or(1);
  // A program that a signal ended had no chance to print a last word, so that its launcher's words
  // are better.
  if (code < kSignalBase) finding.line = LastWords(rank);
  if (finding.line.empty()) finding.line = rank.end_words.substr(0, 400);
  if (finding.line.empty()) finding.line = LastWords(rank);
  const auto end = std::find_if(kSignalEnds.begin(), kSignalEnds.end(), [code](const auto& each) {
    return each.signal == code - kSignalBase;
  });
  if (end != kSignalEnds.end()) {
    finding.kind = end->kind;
    finding.title = end->title;
    finding.advice = end->advice;
    finding.advice_text = end->advice_text;
    finding.level = end->level;
    if (end->level == Level::kDeciding) finding.confidence = Confidence::kMedium;
    if (how.word != nullptr) {
      finding.line = base::Trim(std::string_view(how.word->text).substr(0, 400));
    } else if (end->kind != kUnknown && rank.end_words.empty()) {
      // The lines that it printed before the signal say nothing about the cause.
      finding.line =
          fmt::format("ended by signal {} ({})", end->signal, base::SignalName(end->signal));
    }
    if (end->signal == SIGABRT) {
      const std::string_view uncaught = WhatOfUncaught(rank);
      if (!uncaught.empty()) finding.line = uncaught.substr(0, 400);
    }
  } else if (code == kTimeoutsExit) {
    finding.kind = "deadline";
    finding.title = "it ran longer than `timeout` lets it (exit code 124)";
    finding.advice = Advice::kFixFirst;
    finding.advice_text = "Allow more time, or save checkpoints and go on from the last one.";
    finding.confidence = Confidence::kMedium;
  } else if (rank.has_log && rank.exit_code && finding.line.empty()) {
    finding.title = "it ended itself, and printed nothing";
    finding.advice_text =
        "Run its command by hand, or let it say what it does: sh -x, or a print in the program.";
  } else {
    finding.title = "it ended itself, and said nothing that decides why";
    finding.advice_text = "Look at its last lines.";
  }
  return finding;
}

void AskWitnesses(const Rank& rank, Finding& found) {
  if (IsConsequence(found.level)) return;
  for (const Fact& witness : rank.witnesses) {
    const Rule* const rule = RuleForWitness(witness.text);
    const std::string_view kind = IsOfBusError(found) ? kUnknown : found.kind;
    if (rule == nullptr || !rule->Overrules(kind)) continue;
    // A full disk alone does not prove that the program needed it.
    const bool is_known = kind != kUnknown;
    found.Take(*rule);
    found.confidence = is_known ? Confidence::kHigh : Confidence::kMedium;
    found.line = fmt::format("{}: {}", witness.source, witness.text);
    if (witness.time && (!found.time || *witness.time < *found.time)) found.time = witness.time;
    return;
  }
}

bool WouldWitnessesDecide(const Rank& rank) {
  const auto found = FindInRank(rank);
  if (!found || IsConsequence(found->level)) return false;
  const int code = ExitOf(rank).value_or(0);
  if (found->rule == "process-pool") return true;
  if (IsOfBusError(*found)) return true;
  if (found->kind == kUnknown) return code == kSignalBase + SIGKILL;
  const std::span<const Rule> rules = AllRules();
  return std::any_of(rules.begin(), rules.end(), [&found](const Rule& rule) {
    return !rule.witnesses.empty() && rule.Overrules(found->kind);
  });
}

}  // namespace answers
