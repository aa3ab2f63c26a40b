#include "answers/finding.h"

#include <algorithm>
#include <tuple>

#include "answers/exit_finding.h"
#include "answers/finding/exceptions.h"
#include "answers/finding/lines.h"
#include "answers/finding/loose_words.h"
#include "answers/finding/rank_log.h"
#include "answers/log/launcher_words.h"
#include "answers/program_words.h"
#include "answers/symptoms.h"
#include "answers/unknown_host.h"
#include "base/strings.h"

namespace answers {
namespace {

// If a rank gave up after it had lost a peer or been told to end, that event was the cause.
bool IsBefore(const Finding& one, const Finding& other) {
  const auto is_because_of = [](const Finding& late, const Finding& early) {
    return late.level == Level::kUndecided && IsConsequence(early.level) &&
           early.order < late.order;
  };
  if (is_because_of(one, other)) return false;
  if (is_because_of(other, one)) return true;
  return std::tuple(one.level, one.order) < std::tuple(other.level, other.order);
}

// Returns the line where somebody pressed Ctrl-C and the program did no more work; exceptions
// after it are consequences.
std::optional<size_t> StoppedAt(const RankLog& log) {
  for (size_t i = log.working_until() == 0 ? 0 : log.working_until() - 1; i < log.lines().size();
       ++i) {
    if (base::Trim(log.lines()[i].text).starts_with("^C")) return i;
  }
  return std::nullopt;
}

// What the log decides; nullopt if it decides nothing.
std::optional<Finding> FindInLog(const RankLog& log) {
  std::optional<Finding> best;
  const auto offer = [&best](std::optional<Finding> other) {
    if (other && (!best || IsBefore(*other, *best))) best = std::move(other);
  };
  const auto is_open = [&best] { return !best || best->level != Level::kDeciding; };
  const Chain* const launchers = LaunchersChain(log);
  const std::optional<size_t> stopped = StoppedAt(log);
  // What looks like work below the launcher's may be a note that belongs to it.
  const auto is_asked = [&](const Chain& chain) {
    return (chain.begin >= log.working_until() || &chain == launchers) &&
           (!stopped || chain.begin < *stopped);
  };
  for (const Chain& chain : log.chains()) {
    if (is_asked(chain) && !IsDoubtful(log, chain, launchers)) offer(FindInException(log, chain));
  }
  auto lines = FindInLines(log, stopped.value_or(log.lines().size()));
  if (best && lines && Overrules(lines->kind, best->kind)) return lines;
  // The exception that followed says where.
  if (best && lines && lines->kind == best->kind && lines->frame.file.empty()) {
    lines->frame = best->frame;
  }
  offer(std::move(lines));
  for (const Chain& chain : log.chains()) {
    if (is_open() && is_asked(chain) && IsDoubtful(log, chain, launchers)) {
      offer(FindInDoubtful(log, chain, launchers));
    }
  }
  if (stopped) {
    offer(log.TakeLine(*stopped, RuleNamed("stopped")));
    return best;
  }
  if (is_open()) offer(FindBeforeOthersWork(log));
  if (is_open()) offer(FindPassedByKernel(log));
  if (!best || (best->kind == kUnknown && !IsConsequence(best->level)))
    offer(FindInLooseWords(log));
  if (!best || best->kind == kUnknown || best->level == Level::kConsequence) {
    offer(FindBeforeMpiAbort(log));
  }
  if (best && best->kind == "unreachable") {
    if (const auto line = LineOfUnknownHost(log.lines(), best->line)) {
      const Frame frame = best->frame;
      best = log.TakeLine(*line, RuleNamed("dns"));
      best->frame = frame;
    }
  }
  return best;
}

// torch/distributed/rendezvous.py: with "env://", rank 0 alone starts the store's server.
bool TookItselfForRankZero(const Rank& rank, const Finding& found) {
  return rank.rank.value_or(0) > 0 && found.kind == "port-in-use" &&
         std::any_of(rank.lines.begin(), rank.lines.end(), [](const Line& line) {
           return line.text.find(", in _env_rendezvous_handler") != std::string::npos;
         });
}

}  // namespace

std::vector<bool> OvertakenIn(const std::vector<Line>& lines) {
  std::vector<std::string_view> texts;
  texts.reserve(lines.size());
  for (const Line& line : lines) texts.push_back(line.text);
  return FindOvertaken(texts);
}

void Finding::Take(const Rule& taken) {
  rule = taken.name;
  kind = taken.kind;
  title = taken.title;
  advice = taken.advice;
  advice_text = taken.advice_text;
  level = taken.level;
  const bool is_weak = taken.level == Level::kSymptom || taken.level == Level::kUndecided;
  if (is_weak || taken.kind == kUnknown) confidence = Confidence::kLow;
}

std::optional<std::pair<size_t, size_t>> FirstError(const std::vector<Line>& lines) {
  Rank rank;
  rank.lines = lines;
  const RankLog log(rank);
  const auto chain =
      std::find_if(log.chains().begin(), log.chains().end(),
                   [&log](const Chain& each) { return FindInException(log, each).has_value(); });
  const size_t until = chain == log.chains().end() ? log.lines().size() : chain->begin;
  for (size_t i = 0; i < until; ++i) {
    const std::string& text = log.lines()[i].text;
    if (text.empty() || log.IsInChain(i) || IsWarning(text)) continue;
    const Rule* const rule = RuleForLine(text);
    if (rule != nullptr && !IsConsequence(rule->level)) return std::pair(i, i + 1);
  }
  if (chain != log.chains().end()) return std::pair(chain->begin, chain->end);
  // No rule knows any of them: the last word of a failure.
  for (size_t i = log.lines().size(); i-- > 0;) {
    const std::string_view text = log.lines()[i].text;
    const bool is_word = MentionsFailure(text) && !OnlySpeaksOfFailure(text);
    if (is_word && !SaysNothing(text) && !GoesOnAnyway(text)) return std::pair(i, i + 1);
  }
  return std::nullopt;
}

std::optional<Finding> FindPassedByNccl(const Rank& rank) {
  return HasFailed(rank) ? FindPassedByNccl(RankLog(rank)) : std::nullopt;
}

bool HasFailed(const Rank& rank) {
  if (rank.exit_code) return *rank.exit_code != 0;
  return true;
}

std::optional<Finding> FindInRank(const Rank& rank) {
  if (!HasFailed(rank)) return std::nullopt;
  if (auto status = FindInStatus(rank.reason, rank.message)) {
    status->time = rank.ended;
    return status;
  }
  std::optional<Finding> found = FindInLog(RankLog(rank));
  if (!found && !ExitOf(rank) && !IsOfCutTable(rank.end_words)) return std::nullopt;
  if (found && TookItselfForRankZero(rank, *found)) {
    found->advice = Advice::kFixFirst;
    found->advice_text =
        "It took itself for rank 0, which alone opens MASTER_PORT: let the program read RANK. "
        "PyTorch Lightning does so with plugins=[KubeflowEnvironment()], or under torchrun.";
  }
  if (!found) {
    found = FindInExit(rank);
    if (rank.was_ended_by_us) found->level = Level::kPeerLost;
  }
  AskWitnesses(rank, *found);
  return found;
}

}  // namespace answers
