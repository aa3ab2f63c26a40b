#include "answers/exit_finding.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <span>

#include "base/strings.h"

namespace answers {
namespace {

std::string LastWords(const Rank& rank) {
  for (auto line = rank.lines.rbegin(); line != rank.lines.rend(); ++line) {
    const std::string_view text = base::Trim(line->text);
    if (!text.empty()) return std::string(text.substr(0, 400));
  }
  return "";
}

}  // namespace

Finding FindInExit(const Rank& rank) {
  Finding finding;
  finding.kind = kUnknown;
  finding.level = Level::kUndecided;
  finding.confidence = Confidence::kLow;
  finding.time = rank.ended;
  const int code = rank.exit_code.value_or(1);
  // Whom a signal ends has no last word.
  if (code < kSignalBase) finding.line = LastWords(rank);
  if (finding.line.empty()) finding.line = rank.end_words.substr(0, 400);
  if (finding.line.empty()) finding.line = LastWords(rank);
  const auto crashed_by = [&](std::string_view signal) {
    finding.level = Level::kDeciding;
    finding.confidence = Confidence::kMedium;
    // What it printed before tells nothing of it.
    if (rank.end_words.empty()) finding.line = fmt::format("ended by {}", signal);
  };
  switch (code - kSignalBase) {
    case SIGSEGV:
      finding.kind = "native-crash";
      finding.title = "native code crashed (SIGSEGV)";
      finding.advice = Advice::kFixFirst;
      finding.advice_text =
          "Set PYTHONFAULTHANDLER=1 for the Python stack; suspect extensions that "
          "were built for another torch.";
      crashed_by("signal 11 (SIGSEGV)");
      break;
    case SIGILL:
      finding.kind = "python-mismatch";
      finding.title = "the program has an instruction that this processor lacks (SIGILL)";
      finding.advice = Advice::kRetryElsewhere;
      finding.advice_text = "Use packages built for this machine, or a newer machine.";
      crashed_by("signal 4 (SIGILL)");
      break;
    case SIGBUS:
      finding.title = "it was killed by SIGBUS: a full /dev/shm or a file cut short does that";
      finding.advice_text = "Look whether /dev/shm is full while it runs.";
      break;
    case SIGKILL:
      finding.title = "it was killed by SIGKILL; these data do not say by whom";
      finding.advice_text =
          "Look at the kernel's log (dmesg) for an oom-kill, and at whoever may "
          "end processes here.";
      break;
    case SIGTERM:
    case SIGINT:
      finding.title = "it was asked to end (SIGTERM); these data do not say by whom";
      finding.level = Level::kPeerLost;
      break;
    case SIGABRT:
      finding.title = "native code gave up (SIGABRT)";
      finding.advice_text = "Its reason is in the lines before its end.";
      break;
    default:
      if (rank.has_log && rank.exit_code && finding.line.empty()) {
        finding.title = "it ended itself, and printed nothing";
        finding.advice_text =
            "Run its command by hand, or let it say what it does: sh -x, or a print in the "
            "program.";
      } else {
        finding.title = "it ended itself, and said nothing that decides why";
        finding.advice_text = "Look at its last lines.";
      }
  }
  return finding;
}

void AskWitnesses(const Rank& rank, Finding& found) {
  if (IsConsequence(found.level)) return;
  for (const Fact& witness : rank.witnesses) {
    const Rule* const rule = RuleForWitness(witness.text);
    if (rule == nullptr || !rule->Overrules(found.kind)) continue;
    // A full disk alone is no proof that the program has needed it.
    const bool is_known = found.kind != kUnknown;
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
  const int code = rank.exit_code.value_or(0);
  if (found->rule == "process-pool") return true;
  if (found->kind == kUnknown) return code == kSignalBase + SIGKILL || code == kSignalBase + SIGBUS;
  const std::span<const Rule> rules = AllRules();
  return std::any_of(rules.begin(), rules.end(), [&found](const Rule& rule) {
    return !rule.witnesses.empty() && rule.Overrules(found->kind);
  });
}

}  // namespace answers
