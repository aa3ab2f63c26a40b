#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <csignal>
#include <functional>
#include <map>
#include <set>
#include <tuple>

#include "answers/exit_finding.h"
#include "answers/finding.h"
#include "answers/finding/last_words.h"
#include "answers/peers/gathered_error.h"
#include "answers/peers/named_rank.h"
#include "answers/peers/watchdog.h"
#include "answers/program_words.h"
#include "answers/stall/stack.h"
#include "answers/stall/stall.h"
#include "answers/symptoms.h"
#include "answers/verdict.h"
#include "answers/witness_line.h"
#include "base/strings.h"

namespace answers {
namespace {

// Returns the rank that a launcher calls the first to fail, if its lines are in the file `name`.
std::optional<size_t> FirstAmong(const Evidence& evidence, std::string_view name) {
  for (size_t i = 0; evidence.first_rank && i < evidence.ranks.size(); ++i) {
    const Rank& rank = evidence.ranks[i];
    if (rank.rank == evidence.first_rank && rank.name == name) return i;
  }
  return std::nullopt;
}

// Whether a launcher says that this rank failed first or, for a file without rank prefixes, that
// one of the ranks that wrote it did.
bool IsHinted(const Evidence& evidence, const Rank& rank) {
  if (rank.rank) return rank.rank == evidence.first_rank;
  return FirstAmong(evidence, rank.name).has_value();
}

std::optional<size_t> PlaceOf(const Evidence& evidence, int number) {
  for (size_t i = evidence.ranks.size(); i-- > 0;) {  // the last of several attempts
    if (evidence.ranks[i].rank == number) return i;
  }
  return std::nullopt;
}

// A finding, and the rank that it is about.
struct Claim {
  Finding finding;
  std::optional<size_t> rank;
  std::string source;
  bool was_replaced = false;  // the rank was tried again, and the job failed by something later
  bool is_overtaken = false;  // the later attempt failed by itself, whether it said why or not

  auto Place(const Evidence& evidence) const {
    return std::tuple(is_overtaken, finding.level, was_replaced, finding.is_doubtful,
                      finding.time.value_or(base::Time::max()),
                      !(rank && IsHinted(evidence, evidence.ranks[*rank])), finding.order,
                      rank.value_or(SIZE_MAX));
  }
};

// Whether the job has worked, so that its pods' earlier wait for room is over.
bool WasAtWork(const Evidence& evidence) {
  return std::any_of(evidence.ranks.begin(), evidence.ranks.end(), [](const Rank& rank) {
    return std::any_of(rank.lines.begin(), rank.lines.end(),
                       [](const Line& line) { return IsProgress(line.text); });
  });
}

// Whether the finding is about pods that have not started yet, from their status or from a line
// about it.
bool IsWait(const Finding& finding) {
  const bool is_status = finding.rule.empty() || finding.rule == "unschedulable" ||
                         finding.rule == "queue-quota" || finding.rule == "cluster-quota";
  return is_status && (finding.kind == "unschedulable" || finding.kind == "cluster-quota");
}

// What the cluster's events say. If events without times tell the same of several ranks, nobody
// knows which was first.
std::vector<Claim> ClaimsOfEvents(const Evidence& evidence, bool was_at_work) {
  std::vector<Claim> claims;
  std::map<std::string_view, std::set<size_t>> places;  // by the kind of finding
  for (const Event& event : evidence.events) {
    auto finding = FindInStatus(event.reason, event.message);
    if (!finding || finding->kind == kUnknown) continue;
    if (was_at_work && IsWait(*finding)) continue;
    finding->time = event.time;
    const auto place = event.index ? PlaceOf(evidence, *event.index) : std::nullopt;
    const auto rank = IsWait(*finding) ? std::nullopt : place;
    if (rank && !event.time) places[finding->kind].insert(*rank);
    claims.push_back({std::move(*finding), rank, "event of " + event.object, false});
  }
  for (Claim& claim : claims) {
    if (!claim.finding.time && places[claim.finding.kind].size() > 1) claim.rank.reset();
  }
  return claims;
}

void NoteOvertaken(const Evidence& evidence, std::vector<Claim>& claims) {
  for (Claim& claim : claims) {
    if (!claim.was_replaced) continue;
    const Rank& rank = evidence.ranks[*claim.rank];
    claim.is_overtaken = std::any_of(claims.begin(), claims.end(), [&](const Claim& other) {
      const Rank* const later = other.rank ? &evidence.ranks[*other.rank] : nullptr;
      return later != nullptr && later->name == rank.name && later->attempt > rank.attempt &&
             !IsConsequence(other.finding.level);
    });
  }
}

std::vector<Claim> ClaimsOf(const Evidence& evidence) {
  std::vector<Claim> claims;
  const bool was_at_work = WasAtWork(evidence);
  const auto add = [&](Finding finding, size_t i) {
    const Rank& rank = evidence.ranks[i];
    const bool was_replaced =
        std::any_of(evidence.ranks.begin(), evidence.ranks.end(), [&rank](const Rank& other) {
          return other.name == rank.name && other.attempt > rank.attempt && HasFailed(other);
        });
    claims.push_back({std::move(finding), i, NameOf(rank), was_replaced});
  };
  for (size_t i = 0; i < evidence.ranks.size(); ++i) {
    auto finding = FindInRank(evidence.ranks[i]);
    if (finding && !(was_at_work && IsWait(*finding))) add(std::move(*finding), i);
  }
  NoteOvertaken(evidence, claims);
  const auto is_cause = [](const Claim& claim) {
    return claim.finding.level == Level::kDeciding && claim.finding.kind != kUnknown;
  };
  const bool are_symptoms = std::none_of(claims.begin(), claims.end(), is_cause) &&
                            std::any_of(claims.begin(), claims.end(), [](const Claim& claim) {
                              return claim.finding.level == Level::kSymptom;
                            });
  for (size_t i = 0; are_symptoms && i < evidence.ranks.size(); ++i) {
    auto passed = FindPassedByNccl(evidence.ranks[i]);
    if (passed) add(std::move(*passed), i);
  }
  // The cluster's own messages count only if no program has named a cause.
  const bool has_cause = std::any_of(claims.begin(), claims.end(), is_cause);
  if (auto job = FindInStatus(evidence.job_reason, evidence.job_message); job && !has_cause) {
    claims.push_back({std::move(*job), std::nullopt, "the job's status", false});
  }
  if (has_cause) return claims;
  for (Claim& claim : ClaimsOfEvents(evidence, was_at_work)) claims.push_back(std::move(claim));
  return claims;
}

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

// A line without a rank's name, such as a kernel's assertion, belongs to the rank in the same file
// that failed of the same cause.
const Claim& NamedOf(const Evidence& evidence, const std::vector<Claim>& claims,
                     const Claim& root) {
  if (!root.rank || evidence.ranks[*root.rank].rank || evidence.first_rank) return root;
  const auto named = std::find_if(claims.begin(), claims.end(), [&](const Claim& claim) {
    return claim.rank && claim.finding.kind == root.finding.kind &&
           evidence.ranks[*claim.rank].rank &&
           evidence.ranks[*claim.rank].name == evidence.ranks[*root.rank].name;
  });
  return named == claims.end() ? root : *named;
}

// A line of the machine, which has no rank's name, may say more about the same failure than the
// rank's own words: for example, the kernel about a GPU that the rank only calls broken.
const Claim& OfMachine(const Evidence& evidence, const std::vector<Claim>& claims,
                       const Claim& root) {
  const bool is_ranks = root.rank && evidence.ranks[*root.rank].rank;
  const auto machines = std::find_if(claims.begin(), claims.end(), [&](const Claim& claim) {
    return is_ranks && claim.rank && !evidence.ranks[*claim.rank].rank &&
           claim.finding.level == Level::kDeciding &&
           Overrules(claim.finding.kind, root.finding.kind);
  });
  return machines == claims.end() ? root : *machines;
}

bool HasTraceback(const Rank& rank) {
  return std::any_of(rank.lines.begin(), rank.lines.end(), [](const Line& line) {
    return line.text.find(kTracebackHeader) != std::string::npos;
  });
}

// The rank that its launcher calls the first, if the log may have lost what that said: it begins
// within the rank's only traceback, and has no word of the first one. Ranks of one program
// often fail alike.
std::optional<size_t> FirstOfCutLog(const Evidence& evidence, const Claim& root) {
  if (!root.rank || root.finding.level != Level::kDeciding) return std::nullopt;
  const Rank& of = evidence.ranks[*root.rank];
  const bool is_cut =
      of.rank && !of.lines.empty() && of.lines.front().text.starts_with(' ') && !HasTraceback(of);
  const auto first = is_cut ? FirstAmong(evidence, of.name) : std::nullopt;
  if (!first || of.rank == evidence.first_rank) return std::nullopt;
  const auto said = FindInRank(evidence.ranks[*first]);
  const bool has_word = said && (!said->rule.empty() || said->kind != kUnknown);
  return has_word ? std::nullopt : first;
}

// The rank whose process or GPU a line of the machine, without a rank's name, is about, if only one
// rank can be meant: the only one that failed of something that this line explains or, where the
// kernel killed a process, the one that its launcher saw killed.
std::optional<size_t> OnlyOneMeant(const Evidence& evidence, const std::vector<Claim>& claims,
                                   const Claim& root) {
  if (!root.rank || evidence.ranks[*root.rank].rank || root.finding.is_of_any_rank) {
    return std::nullopt;
  }
  std::set<size_t> meant;
  for (const Claim& claim : claims) {
    const bool is_ranks = claim.rank && evidence.ranks[*claim.rank].rank;
    const bool has_failed = claim.finding.level == Level::kDeciding;  // and did not only wait
    if (is_ranks && has_failed && Overrules(root.finding.kind, claim.finding.kind)) {
      meant.insert(*claim.rank);
    }
  }
  if (root.finding.kind == "host-out-of-memory") {
    const auto kills = [](const Line& line) {
      return line.text.find("Killed process ") != std::string::npos;
    };
    const std::vector<Line>& kernels = evidence.ranks[*root.rank].lines;
    if (std::count_if(kernels.begin(), kernels.end(), kills) != 1) return std::nullopt;
    for (size_t i = 0; i < evidence.ranks.size(); ++i) {
      const Rank& rank = evidence.ranks[i];
      if (rank.rank && rank.exit_code == kSignalBase + SIGKILL) meant.insert(i);
    }
  }
  return meant.size() == 1 ? std::optional(*meant.begin()) : std::nullopt;
}

// The rank of the pod that the line of kubectl's table of events is about: "2m  Warning  Evicted
// pod/sam-worker-3  The node was low on resource". None if other pods' events tell the same.
std::optional<size_t> PlaceOfEvent(const Evidence& evidence, const Claim& root) {
  std::optional<size_t> place;
  std::set<std::string_view> objects;
  for (const Event& event : evidence.events) {
    const auto finding = FindInStatus(event.reason, event.message);
    if (!event.object.starts_with("pod/") || !finding || finding->kind != root.finding.kind)
      continue;
    objects.insert(event.object);
    const bool is_it = root.finding.line.find(event.object) != std::string::npos &&
                       root.finding.line.find(event.reason) != std::string::npos;
    if (is_it && event.index) place = PlaceOf(evidence, *event.index);
  }
  return objects.size() == 1 ? place : std::nullopt;
}

// Whether other ranks' lines, or lines of none, are in the same file as this rank's.
bool HasCommonLog(const Evidence& evidence, std::optional<size_t> place) {
  return place && std::any_of(evidence.ranks.begin(), evidence.ranks.end(), [&](const Rank& other) {
           const Rank& rank = evidence.ranks[*place];
           return other.name == rank.name && other.rank != rank.rank;
         });
}

// Whether the claim is NCCL's about a connection, whose other end may have failed, while another
// rank has raised something, too.
bool IsOfOneEnd(const Evidence& evidence, const Claim& root) {
  static constexpr std::string_view kRemote = "remote process exited or there was a network error";
  const auto is_remote = [](std::string_view text) { return text.find(kRemote) != text.npos; };
  const std::vector<std::string>& words = root.finding.words;
  if (!root.rank || std::none_of(words.begin(), words.end(), is_remote)) return false;
  return std::any_of(evidence.ranks.begin(), evidence.ranks.end(), [&](const Rank& other) {
    return other.rank && other.rank != evidence.ranks[*root.rank].rank && HasTraceback(other);
  });
}

// A launcher says of a rank only that it aborted; a line without a rank's name, or of another rank
// that ended in the same way, says that native code did.
const Claim& OfAbort(const Evidence& evidence, const std::vector<Claim>& claims,
                     const Claim& root) {
  if (!root.rank || root.finding.kind != kUnknown) return root;
  const Rank& rank = evidence.ranks[*root.rank];
  if (rank.exit_code != kSignalBase + SIGABRT || !rank.lines.empty()) return root;
  const auto stack = std::find_if(claims.begin(), claims.end(), [](const Claim& claim) {
    return claim.finding.rule == "native-abort-signal";
  });
  return stack == claims.end() ? root : *stack;
}

// An error that was gathered from other ranks may have lost what these raised; the log of one of
// them, or the traceback of one that stands by itself, says it.
const Claim& OfGathered(const Evidence& evidence, const std::vector<Claim>& claims,
                        const Claim& root) {
  const std::set<int> ranks = RanksOfGathered(root.finding.line);
  if (ranks.empty()) return root;
  const auto own = std::find_if(claims.begin(), claims.end(), [&](const Claim& claim) {
    const auto number = claim.rank ? evidence.ranks[*claim.rank].rank : std::nullopt;
    return number && ranks.contains(*number) && claim.finding.level == Level::kDeciding &&
           RanksOfGathered(claim.finding.line).empty();
  });
  return own == claims.end() ? root : *own;
}

std::string EndOf(const Rank& rank) {
  if (!rank.exit_code) return "ended";
  return fmt::format("exited with code {}{}", *rank.exit_code,
                     rank.was_ended_by_us ? ", ended with its job" : "");
}

void TakeFrame(Verdict& verdict, const Frame& frame) {
  verdict.file = frame.file;
  verdict.function = frame.function;
  verdict.file_line = frame.line;
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
    if (of_attempt == nullptr || claim.Place(evidence) < of_attempt->Place(evidence)) {
      of_attempt = &claim;
    }
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

// "rank 1 is killed (--on-stall=restart): rank 1 has not entered all_reduce ...": the embedded
// cluster's event, if the rank of the claim ended by that. It says more than "OOMKilled", which any
// out-of-memory kill on the machine may have caused, and which is said of the pod rather than of a
// rank.
std::optional<Fact> KilledForStall(const Claim& root, const Evidence& evidence) {
  constexpr std::chrono::seconds kAtOnce{10};
  if (!root.rank) return std::nullopt;
  const Rank& rank = evidence.ranks[*root.rank];
  if (rank.exit_code != kSignalBase + SIGKILL || !rank.ended) return std::nullopt;
  if (!rank.rank && rank.reason != "OOMKilled") return std::nullopt;
  const std::string who = rank.rank ? fmt::format("rank {}", *rank.rank) : "rank ";
  constexpr std::string_view kKilled = " is killed (--on-stall=restart): ";
  for (const Event& event : evidence.events) {
    const size_t end = event.message.find(kKilled);
    if (event.reason != "Stalled" || end == std::string::npos || !event.time) continue;
    const std::string_view killed = std::string_view(event.message).substr(0, end);
    if (rank.rank ? killed != who : !killed.starts_with(who)) continue;
    if (std::chrono::abs(*rank.ended - *event.time) > kAtOnce) continue;
    return Fact{event.time, std::string(kStallSource),
                "stalled " + event.message.substr(end + kKilled.size())};
  }
  return std::nullopt;
}

// Whether the stall was there when the claim's rank gave up: the rank moves again to say so, and
// without a stamped line only the end of its process is known. A stall that began later is one of
// the ranks that were left.
bool LastedUntil(const Claim& root, const Evidence& evidence) {
  constexpr std::chrono::seconds kLongestEnd{15};
  const auto& began = evidence.stall->time;
  if (began && root.finding.time && *root.finding.time < *began) return false;
  if (!evidence.stall_end) return true;
  return root.finding.time && *root.finding.time < *evidence.stall_end + kLongestEnd;
}

// The stall of that kind ("stalled ", "waiting ") in which the claim's rank gave up.
std::optional<Fact> StallBehind(const Claim& root, const Evidence& evidence,
                                std::string_view kind) {
  const bool is_it =
      evidence.stall && evidence.stall->text.starts_with(kind) && LastedUntil(root, evidence);
  return is_it ? evidence.stall : std::nullopt;
}

// muster-launch's own "stalled 12 s: rank 1 has not entered ... (RuntimeError: Timed out ...)",
// where the parentheses hold what a rank raised in the end.
std::optional<Fact> SaidByLauncher(const Claim& root) {
  constexpr std::string_view kStalled = "stalled ", kSeconds = " s: rank";
  const std::string_view line = root.finding.line;
  const size_t text = line.find(kSeconds);
  if (root.finding.kind != "hang" || !line.starts_with(kStalled) || text == line.npos) {
    return std::nullopt;
  }
  if (!base::ParseInt(line.substr(kStalled.size(), text - kStalled.size()))) return std::nullopt;
  size_t end = line.size();
  for (size_t at = line.rfind(" ("); at != line.npos && at > text; at = line.rfind(" (", at - 1)) {
    const size_t word = line.find_first_of(": )", at + 2);
    if (word == line.npos || line.substr(word, 2) != ": ") continue;
    end = at;
    break;
  }
  const size_t begin = text + kSeconds.find("rank");
  return Fact{root.finding.time, std::string(kStallSource),
              std::string(kStalled) + std::string(line.substr(begin, end - begin))};
}

// The hang of which the failure is only the end: somebody lost patience with a rank that kept the
// others waiting. A rank's failure of its own did not come from a hang: nullopt.
std::optional<Fact> HangBehind(const Claim& root, const Evidence& evidence) {
  if (auto stall = KilledForStall(root, evidence)) return stall;
  const bool is_end = root.finding.kind == "deadline" || root.finding.kind == "stopped" ||
                      root.finding.kind == "hang" || root.finding.level == Level::kSymptom ||
                      IsConsequence(root.finding.level);
  // A stall that is only "waiting ..." is a slow rank rather than a hang.
  if (!is_end) return std::nullopt;
  auto stall = StallBehind(root, evidence, "stalled ");
  return stall ? stall : SaidByLauncher(root);
}

// What the ranks waited for when one of them lost patience, while others may have been at work.
std::optional<Fact> WaitBehind(const Claim& root, const Evidence& evidence) {
  return root.finding.level == Level::kSymptom ? StallBehind(root, evidence, "waiting ")
                                               : std::nullopt;
}

// Explains a time-out of NCCL by what the watchdogs of all ranks report together.
void AskWatchdogs(Verdict& verdict, const Evidence& evidence) {
  const Watchdogs watchdogs = ReadWatchdogs(evidence);
  if (!watchdogs.one.empty()) {
    verdict.kind = "collective-mismatch";
    verdict.title = "ranks called different collectives, or with different sizes";
    verdict.line = watchdogs.one + ", " + watchdogs.other;
    verdict.rank = watchdogs.odd ? PlaceOf(evidence, *watchdogs.odd) : std::nullopt;
    verdict.confidence = Confidence::kMedium;
    verdict.advice_text =
        "Every rank has to call the same collectives in the same order, with tensors of the same "
        "size and type: look for a condition on the rank.";
  } else if (watchdogs.behind) {
    verdict.title = fmt::format("rank {} did not enter a collective call that others waited in",
                                *watchdogs.behind);
    verdict.line = watchdogs.line;
    verdict.rank = PlaceOf(evidence, *watchdogs.behind);
    verdict.confidence = Confidence::kMedium;
    verdict.advice_text = "Look at what that rank did instead: its last lines, its stack.";
  } else if (verdict.line.find("ProcessGroupNCCL.cpp") != std::string::npos) {
    // The rank whose watchdog spoke first is not necessarily the one that kept the others waiting.
    verdict.rank.reset();
    if (!watchdogs.line.empty()) verdict.line = watchdogs.line;
  }
}

// If several ranks' calls of gloo timed out, the first of them has waited like the others.
void AskTimedOut(Verdict& verdict, const Evidence& evidence, const std::vector<Claim>& claims) {
  const auto is_gloos = [](std::string_view line) {
    return line.find("Timed out waiting ") != line.npos && line.find(" operation to ") != line.npos;
  };
  if (evidence.first_rank || !is_gloos(verdict.line)) return;
  std::set<int> timed_out;
  for (const Claim& claim : claims) {
    const auto number = claim.rank ? evidence.ranks[*claim.rank].rank : std::nullopt;
    if (number && is_gloos(claim.finding.line)) timed_out.insert(*number);
  }
  if (timed_out.size() > 1) verdict.rank.reset();
}

// The rank that reports a mismatch first is only one of those that see it, if others report it,
// too.
void AskMismatch(Verdict& verdict, const Evidence& evidence, const std::vector<Claim>& claims) {
  if (!ReportsMismatch(verdict.line)) return;
  const auto odd = OddInMismatch(evidence);
  const auto place = odd ? PlaceOf(evidence, *odd) : std::nullopt;
  const auto reporting =
      std::count_if(evidence.ranks.begin(), evidence.ranks.end(), [](const Rank& rank) {
        return rank.rank && std::any_of(rank.lines.begin(), rank.lines.end(), [](const Line& line) {
                 return ReportsMismatch(line.text);
               });
      });
  if (place == verdict.rank || (!place && reporting < 2)) return;
  verdict.rank = place;
  if (!place) return;
  const auto own = std::find_if(claims.begin(), claims.end(), [&](const Claim& claim) {
    return claim.rank == place && claim.finding.kind == verdict.kind;
  });
  TakeFrame(verdict, own == claims.end() ? Frame{} : own->finding.frame);
}

// All ranks raise an error that was gathered from some: whichever a launcher saw first, it is of
// one of these.
void AskGathered(Verdict& verdict, const Evidence& evidence, const Claim& raised) {
  if (!raised.rank) return;
  const std::set<int> ranks =
      GatheredIn(evidence.ranks[*raised.rank], raised.finding.words, evidence);
  const auto number = verdict.rank ? evidence.ranks[*verdict.rank].rank : std::nullopt;
  if (ranks.empty() || (number && ranks.contains(*number))) return;
  verdict.rank = ranks.size() == 1 ? PlaceOf(evidence, *ranks.begin()) : std::nullopt;
}

// The rank that did not come, by the line or, if that names none, by the only other one of its rank
// that does.
std::optional<int> MissingIn(const Evidence& evidence, const Claim& root, std::string_view line) {
  const Rank* const asker = root.rank ? &evidence.ranks[*root.rank] : nullptr;
  const auto number = asker != nullptr ? asker->rank : std::nullopt;
  const auto missing = MissingAtBarrier(line, number);
  if (missing || asker == nullptr || root.finding.kind != "late-peer") return missing;
  std::set<int> others;
  for (const Line& each : asker->lines) {
    if (const auto other = MissingAtBarrier(each.text, number)) others.insert(*other);
  }
  return others.size() == 1 ? std::optional(*others.begin()) : std::nullopt;
}

bool IsOfStallInspector(std::string_view line) {
  return line.find("is stalled for longer than ") != line.npos &&
         line.ends_with(" seconds. Will shutdown.");
}

// Horovod's coordinator, which is rank 0, reports whom the others wait for.
void AskStallInspector(Verdict& verdict, const Evidence& evidence) {
  const auto missing = MissingOfHorovod(evidence);
  verdict.rank = missing ? PlaceOf(evidence, *missing) : std::nullopt;
  if (!missing) return;
  verdict.title = fmt::format("rank {} has not entered a call that others wait in", *missing);
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

// muster-launch's "muster-launch: rank 1: a loss is not a number any more: step 5 loss nan".
std::optional<int> RankOfLostLoss(std::string_view line) {
  constexpr std::string_view kRank = "muster-launch: rank ";
  const size_t end = line.find(": a loss is not a number any more: ");
  if (!line.starts_with(kRank) || end == line.npos) return std::nullopt;
  const auto number = base::ParseInt(line.substr(kRank.size(), end - kRank.size()));
  return number && *number >= 0 && *number < (1 << 20) ? std::optional(static_cast<int>(*number))
                                                       : std::nullopt;
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

// "...; it is busy at loader.py:31: time.sleep(60)", "rank 1 is in barrier (train.py:12), ...",
// "rank 1 calls barrier (train.py:12) where ...".
void TakePlaceOf(std::string_view text, Verdict& verdict) {
  const auto behind = [text](std::string_view word, std::string_view mark) {
    const size_t at = text.find(word);
    const size_t place = at == text.npos ? at : text.find(mark, at);
    return place == text.npos ? std::string_view() : text.substr(place + mark.size());
  };
  std::string_view place = behind("; it ", " at ");
  for (const std::string_view words : {" is in ", " calls ", " gives "}) {
    if (place.empty() && IsOfDifferentCalls(text)) place = behind(words, " (");
  }
  const size_t colon = std::min(place.find(':'), place.size());
  const std::string_view number = place.substr(std::min(colon + 1, place.size()));
  const auto line = base::ParseInt(number.substr(0, number.find_first_not_of("0123456789")));
  if (!line) return;
  verdict.file = place.substr(0, colon);
  verdict.file_line = static_cast<int>(*line);
}

void ForgetRank(Verdict& verdict) {
  verdict.rank.reset();
  TakeFrame(verdict, {});
}

// The text begins with "stalled rank 1 has not entered ..." or "stalled ranks 2-3 have not ...":
// the first number is the rank.
void TakeRankOf(std::string_view text, Verdict& verdict, const Evidence& evidence) {
  ForgetRank(verdict);
  const size_t at = text.find("rank");
  const size_t digit = at == text.npos ? at : text.find_first_of("0123456789", at);
  if (digit == text.npos || digit > at + 6) return;
  const size_t end = text.find_first_not_of("0123456789", digit);
  const auto number = base::ParseInt(text.substr(digit, end - digit));
  if (number) verdict.rank = PlaceOf(evidence, static_cast<int>(*number));
  TakePlaceOf(text, verdict);
}

void TakeStall(Verdict& verdict, const Evidence& evidence, const Fact& stall) {
  if (verdict.kind != "hang") {
    verdict.evidence.insert(verdict.evidence.begin(), {std::nullopt, "it ended by", verdict.title});
  }
  verdict.evidence.insert(verdict.evidence.begin(), stall);
  verdict.line = stall.text.substr(stall.text.find(' ') + 1);
  verdict.advice = Advice::kFixFirst;
  TakeRankOf(stall.text, verdict, evidence);
}

// Whether a single rank made another call than all others: "rank 1 is in barrier (train.py:12),
// ranks 0, 2 are in ...", "rank 1 calls barrier (train.py:12) where ranks 0, 2 call ...".
bool HasOneOddRank(std::string_view said) {
  constexpr std::string_view kAlone = "rank ", kNext = ", rank", kWhere = " where ";
  const size_t where = said.find(kWhere);
  const size_t next = said.find(kNext);
  if (!said.starts_with(kAlone)) return false;
  if (where != said.npos) return next > where && said.substr(where).starts_with(" where ranks ");
  return next != said.npos && said.substr(next).starts_with(", ranks ") &&
         said.find(kNext, next + 1) == said.npos;
}

void TakeDifferentCalls(Verdict& verdict) {
  verdict.kind = "collective-mismatch";
  verdict.title = verdict.line.find(kWaitForEachOther) != std::string::npos
                      ? "ranks waited for each other in different calls"
                      : "ranks called different collectives, or with different sizes";
  if (!HasOneOddRank(verdict.line)) ForgetRank(verdict);
  verdict.advice_text =
      "Every rank has to make the same collective calls in the same order: look for a condition "
      "on the rank, or for a rank with fewer batches (drop_last, a DistributedSampler, Join).";
}

void TakeHang(Verdict& verdict, const Evidence& evidence, const Fact& stall) {
  TakeStall(verdict, evidence, stall);
  verdict.kind = "hang";
  verdict.title = "a rank that stood still kept the others waiting";
  verdict.advice_text =
      "Look at the line where that rank was: a branch that only some ranks take, a lock, a file or "
      "a server that does not answer. `muster stacks` shows all ranks while it lasts.";
  verdict.confidence = Confidence::kHigh;
  if (IsOfDifferentCalls(stall.text)) TakeDifferentCalls(verdict);
  if (auto recorder = MissingRecorder(stall.text); !recorder.empty()) {
    verdict.missing.push_back(std::move(recorder));
  }
}

// The others' patience, not the rank, decides that it failed.
void TakeWait(Verdict& verdict, const Evidence& evidence, const Fact& wait) {
  const bool are_different = IsOfDifferentCalls(wait.text);
  if (!are_different && !NamesLateRank(wait.text)) {
    verdict.evidence.insert(verdict.evidence.begin(), wait);
    return;
  }
  TakeStall(verdict, evidence, wait);
  verdict.confidence = Confidence::kMedium;
  if (are_different) return TakeDifferentCalls(verdict);
  const bool is_idle = wait.text.find(kEnteredByThreads) != std::string::npos;
  verdict.title = is_idle ? "a rank had not entered a collective call that the others had entered"
                          : "the others did not wait long enough for a rank that was at work";
  verdict.advice_text = is_idle ? "Look at the line where that rank was, and at its other threads."
                                : kAdviceOnSlowRank;
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
  const std::vector<Claim> claims = ClaimsOf(evidence);
  if (claims.empty()) {
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
    return verdict;
  }
  const Claim& first = *std::min_element(
      claims.begin(), claims.end(),
      [&](const Claim& a, const Claim& b) { return a.Place(evidence) < b.Place(evidence); });
  const Claim& of_rank = NamedOf(evidence, claims, first);
  const Claim& raised = OfAbort(evidence, claims, OfMachine(evidence, claims, of_rank));
  const Claim& root = OfGathered(evidence, claims, raised);
  TakeFinding(verdict, root);
  if (&root != &of_rank) verdict.rank = of_rank.rank;
  if (root.rank && !evidence.ranks[*root.rank].rank && !root.finding.is_of_any_rank) {
    // If one file contains the lines of several ranks, torchrun's table says whose they are.
    if (const auto named = FirstAmong(evidence, evidence.ranks[*root.rank].name)) {
      verdict.rank = named;
    }
  }
  if (verdict.rank && !evidence.ranks[*verdict.rank].rank) {
    if (const auto meant = OnlyOneMeant(evidence, claims, root)) verdict.rank = meant;
    if (const auto of_event = PlaceOfEvent(evidence, root)) verdict.rank = of_event;
  }
  if (const auto of_cut = FirstOfCutLog(evidence, root)) verdict.rank = of_cut;
  if (const auto lost = RankOfLostLoss(verdict.line)) {
    if (const auto place = PlaceOf(evidence, *lost)) verdict.rank = place;
  }
  if (!evidence.first_rank && IsOfOneEnd(evidence, root)) verdict.rank.reset();
  if (IsAboutWholeJob(verdict.line) && HasCommonLog(evidence, verdict.rank)) verdict.rank.reset();
  if (const auto nccl = ReadNcclPrefix(verdict.line);
      nccl && verdict.rank && !evidence.ranks[*verdict.rank].rank) {
    if (const auto place = PlaceOf(evidence, nccl->device)) verdict.rank = place;
  }
  if (root.finding.kind == "collective-timeout") {
    AskWatchdogs(verdict, evidence);
    AskTimedOut(verdict, evidence, claims);
  }
  if (root.finding.kind == "collective-mismatch") AskMismatch(verdict, evidence, claims);
  AskGathered(verdict, evidence, raised);
  if (root.finding.rule == "hang-horovod" || IsOfStallInspector(verdict.line)) {
    AskStallInspector(verdict, evidence);
  }
  if (const auto missing = MissingIn(evidence, root, verdict.line)) {
    if (const auto place = PlaceOf(evidence, *missing)) verdict.rank = place;
  } else if (root.finding.rule == "late-peer-barrier") {
    verdict.rank.reset();  // it waited for the one that did not come
  }
  AddEvidence(verdict, evidence, root);
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
  if (const auto stall = HangBehind(root, evidence)) {
    TakeHang(verdict, evidence, *stall);
  } else if (const auto wait = WaitBehind(root, evidence)) {
    TakeWait(verdict, evidence, *wait);
  } else {
    TakePlaceOfCrash(verdict, evidence);
  }
  if (verdict.kind == kUnknown && root.finding.rule.empty() && verdict.rank) {
    TakeCommonLogsLastWords(verdict, evidence);
    NoteLostLoss(verdict, evidence);
  }
  AddConsequences(verdict, evidence, claims, root);
  return verdict;
}

}  // namespace answers
