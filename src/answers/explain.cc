#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <functional>
#include <map>

#include "answers/cause/ask_peers.h"
#include "answers/cause/claim.h"
#include "answers/cause/failed_rank.h"
#include "answers/cause/hang.h"
#include "answers/cause/root_claim.h"
#include "answers/exit_finding.h"
#include "answers/finding.h"
#include "answers/finding/last_words.h"
#include "answers/program_words.h"
#include "answers/stall/stack.h"
#include "answers/symptoms.h"
#include "answers/verdict.h"
#include "answers/witness_line.h"
#include "base/strings.h"

namespace answers {
namespace {

// Returns the rank that succeeded first, before the others were finished.
std::optional<size_t> EndedEarly(const Evidence& evidence) {
  std::optional<size_t> first;
  for (size_t i = 0; i < evidence.ranks.size(); ++i) {
    const Rank& rank = evidence.ranks[i];
    if (rank.exit_code != 0 || rank.reason == "Evicted") continue;
    const bool is_earlier = !first || (rank.ended && evidence.ranks[*first].ended &&
                                       *rank.ended < *evidence.ranks[*first].ended);
    if (is_earlier) first = i;
  }
  return first;
}

std::string EndOf(const Rank& rank) {
  if (!rank.exit_code) return "ended";
  return fmt::format("exited with code {}{}", *rank.exit_code,
                     rank.was_ended_by_us ? ", ended with its job" : "");
}

void TakeFinding(Verdict& verdict, const Claim& claim) {
  const Finding& finding = claim.finding;
  verdict.kind = finding.kind;
  verdict.title = finding.title;
  verdict.advice = finding.advice;
  verdict.advice_text = finding.advice_text;
  verdict.confidence = finding.confidence;
  verdict.rank = claim.rank;
  verdict.line = finding.line;
  TakeFrame(verdict, finding.frame);
}

void AddEvidence(Verdict& verdict, const Evidence& evidence, const Claim& root) {
  if (verdict.rank) {
    const Rank& rank = evidence.ranks[*verdict.rank];
    std::string end = EndOf(rank);
    if (!rank.reason.empty() && rank.reason != "Error") end += ", reason " + rank.reason;
    verdict.evidence.push_back({rank.ended, NameOf(rank), std::move(end)});
  }
  for (const std::string& words : root.finding.words) {
    verdict.evidence.push_back({root.finding.time, root.source, words});
  }
  if (root.finding.kind == "program-missing" && !evidence.search_path.empty()) {
    verdict.evidence.push_back({std::nullopt, "the job's PATH", evidence.search_path});
  }
  if (!verdict.rank) return;
  const Rank& rank = evidence.ranks[*verdict.rank];
  for (const Fact& witness : rank.witnesses) {
    if (!witness.text.starts_with(kCannotBeRead)) {
      // The launcher may have said it, too, without a time.
      const auto said = std::find_if(
          verdict.evidence.begin(), verdict.evidence.end(), [&witness](const Fact& fact) {
            return fact.source == witness.source && fact.text == witness.text;
          });
      if (said == verdict.evidence.end()) {
        verdict.evidence.push_back(witness);
      } else if (!said->time) {
        said->time = witness.time;
      }
      continue;
    }
    verdict.missing.push_back(fmt::format("the {}{}{} ({})", witness.source,
                                          rank.host.empty() ? "" : " of ", rank.host,
                                          witness.text));
  }
}

bool IsOfEarlierAttempt(const Evidence& evidence, const Claim& claim, const Claim& root) {
  return claim.rank && claim.was_replaced && root.rank &&
         evidence.ranks[*claim.rank].attempt < evidence.ranks[*root.rank].attempt;
}

// What ended the attempts before that of `root`, the latest first: one claim of each.
std::vector<const Claim*> FirstOfEarlierAttempts(const Evidence& evidence,
                                                 const std::vector<Claim>& claims,
                                                 const Claim& root) {
  std::map<int, const Claim*, std::greater<>> first;
  for (const Claim& claim : claims) {
    if (!IsOfEarlierAttempt(evidence, claim, root)) continue;
    const Claim*& of_attempt = first[evidence.ranks[*claim.rank].attempt];
    if (of_attempt == nullptr || ComesBefore(evidence, claim, *of_attempt)) of_attempt = &claim;
  }
  std::vector<const Claim*> found;
  for (const auto& [attempt, claim] : first) found.push_back(claim);
  return found;
}

void AddConsequences(Verdict& verdict, const Evidence& evidence, const std::vector<Claim>& claims,
                     const Claim& root) {
  verdict.consequences = evidence.earlier_ends;
  for (const Claim* const claim : FirstOfEarlierAttempts(evidence, claims, root)) {
    const Rank& rank = evidence.ranks[*claim->rank];
    std::string text = fmt::format("in attempt {} {}", rank.attempt + 1, EndOf(rank));
    if (!claim->finding.line.empty()) text += ": " + claim->finding.line;
    verdict.consequences.push_back({claim->finding.time, claim->source, std::move(text)});
  }
  for (const Claim& claim : claims) {
    if (!claim.rank || claim.rank == verdict.rank || &claim == &root) continue;
    if (IsOfEarlierAttempt(evidence, claim, root)) continue;
    std::string text = EndOf(evidence.ranks[*claim.rank]);
    if (!claim.finding.line.empty()) text += ": " + claim.finding.line;
    verdict.consequences.push_back({claim.finding.time, claim.source, std::move(text)});
  }
}

// Witnesses belong to the whole pod; this one names its rank: "rank 3: Aborted in all_reduce ...".
bool IsOfAnother(const Rank& rank, std::string_view witness) {
  constexpr std::string_view kRank = "rank ";
  if (!rank.rank || !witness.starts_with(kRank)) return false;
  witness.remove_prefix(kRank.size());
  const auto number = base::ParseInt(witness.substr(0, witness.find(':')));
  return number && *number != *rank.rank;
}

// The advice to ask for the Python stack is of no use to one who has it.
void ForgetAdviceOnStack(std::string& advice) {
  constexpr std::string_view kAsk = "Set PYTHONFAULTHANDLER=1 for the Python stack";
  if (!advice.starts_with(kAsk)) return;
  advice.erase(0, std::min(advice.size(), kAsk.size() + 2));  // with "; " or "."
  if (!advice.empty()) advice[0] = static_cast<char>(std::toupper(advice[0]));
}

// A program that crashed has raised no exception, but its rank has recorded where it was.
void TakePlaceOfCrash(Verdict& verdict, const Evidence& evidence) {
  if (!verdict.rank || !verdict.file.empty()) return;
  const Rank& rank = evidence.ranks[*verdict.rank];
  if (rank.exit_code && *rank.exit_code < kSignalBase) return;
  for (const Fact& witness : rank.witnesses) {
    if (witness.source != kPythonsStack || IsOfAnother(rank, witness.text)) continue;
    ForgetAdviceOnStack(verdict.advice_text);
    return TakeFrame(verdict, FrameIn(witness.text));
  }
  if (verdict.kind == "native-crash") {
    verdict.missing.push_back(fmt::format("the Python stack of {} at its end", NameOf(rank)));
  }
}

// No claim: the last words of a program may still say that it failed.
void TakeLastWords(Verdict& verdict, const Evidence& evidence) {
  TakeLastTrouble(verdict, evidence);
  if (!verdict.line.empty() && !IsShellsWordOfASignal(verdict.line)) {
    NoteLostLoss(verdict, evidence);
  }
  if (verdict.line.empty() && !evidence.job_message.empty()) {
    verdict.title = "it failed, and these data do not say why";
    verdict.line = evidence.job_message;
  }
  if (!verdict.line.empty() && !verdict.rank && evidence.first_rank) {
    verdict.rank = PlaceOf(evidence, *evidence.first_rank);
  }
}

// Whoever waited in vain failed because of one that had ended or gone away.
void TakeEarlyEnd(Verdict& verdict, const Evidence& evidence, const Claim& root) {
  const bool waited = root.finding.level != Level::kDeciding && root.finding.kind != "stopped" &&
                      root.finding.kind != "native-crash";
  if (const auto early = EndedEarly(evidence); early && waited && root.finding.kind != kUnknown) {
    verdict.kind = "ended-early";
    verdict.title =
        NameOf(evidence.ranks[*early]) + " ended with exit code 0 while others still waited for it";
    verdict.rank = early;
    verdict.advice = Advice::kFixFirst;
    verdict.advice_text =
        "Every rank has to take part in each collective call: find out why it was done "
        "so early (fewer batches, a return on one rank only, or a smaller tensor in its last "
        "call: gloo lets that rank go on).";
    verdict.confidence = Confidence::kMedium;
  } else if (root.finding.level == Level::kPeerLost && root.finding.kind != kUnknown) {
    verdict.kind = kUnknown;
    verdict.title = "another rank went away first, and these data do not say why";
    verdict.confidence = Confidence::kLow;
    verdict.rank.reset();
    if (evidence.first_rank) verdict.rank = PlaceOf(evidence, *evidence.first_rank);
  }
}

}  // namespace

std::string_view NameOf(Advice advice) {
  switch (advice) {
    case Advice::kFixFirst:
      return "fix-first";
    case Advice::kRetry:
      return "retry";
    case Advice::kRetryElsewhere:
      return "retry-elsewhere";
    case Advice::kStop:
      return "stop";
    case Advice::kNone:
      break;
  }
  return "none";
}

std::string_view NameOf(Confidence confidence) {
  switch (confidence) {
    case Confidence::kHigh:
      return "high";
    case Confidence::kMedium:
      return "medium";
    case Confidence::kLow:
      break;
  }
  return "low";
}

std::string NameOf(const Rank& rank) {
  constexpr size_t kLongest = 40;
  std::string name = rank.name;
  if (name.size() > kLongest) {  // only the last folders of a path
    const size_t slash = name.find('/', name.size() - kLongest);
    if (slash != std::string::npos) name = "..." + name.substr(slash);
  }
  if (!rank.container.empty()) name += ", container " + rank.container;
  if (!rank.rank) return name;
  if (name.empty()) return fmt::format("rank {}", *rank.rank);
  return fmt::format("rank {} ({})", *rank.rank, name);
}

Verdict Explain(const Evidence& evidence) {
  Verdict verdict;
  verdict.kind = kUnknown;
  verdict.title = "nothing in these data says that it failed";
  for (const Rank& rank : evidence.ranks) {
    if (rank.has_log) continue;
    verdict.missing.push_back(fmt::format("the log of {}{}{}", NameOf(rank),
                                          rank.why_no_log.empty() ? "" : ": ", rank.why_no_log));
  }
  if (!evidence.other_jobs.empty()) {
    verdict.missing.push_back(
        fmt::format("the logs of other jobs, which were left out: {}", evidence.other_jobs));
  }
  const std::vector<Claim> claims = ClaimsOf(evidence);
  if (claims.empty()) {
    TakeLastWords(verdict, evidence);
    return verdict;
  }
  const RootClaim found = FindRoot(evidence, claims);
  const Claim& root = found.root;
  TakeFinding(verdict, root);
  NameFailedRank(verdict, evidence, claims, found);
  AskPeers(verdict, evidence, claims, found);
  AddEvidence(verdict, evidence, root);
  TakeEarlyEnd(verdict, evidence, root);
  if (!TakeStallBehind(verdict, evidence, root)) TakePlaceOfCrash(verdict, evidence);
  if (verdict.kind == kUnknown && root.finding.rule.empty() && verdict.rank) {
    TakeCommonLogsLastWords(verdict, evidence);
    NoteLostLoss(verdict, evidence);
  }
  AddConsequences(verdict, evidence, claims, root);
  return verdict;
}

}  // namespace answers
