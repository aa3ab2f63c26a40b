#include "answers/cause/hang.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "answers/exit_finding.h"
#include "answers/stall/stall.h"
#include "answers/symptoms.h"
#include "base/strings.h"

namespace answers {
namespace {

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

bool TakeStallBehind(Verdict& verdict, const Evidence& evidence, const Claim& root) {
  if (const auto stall = HangBehind(root, evidence)) {
    TakeHang(verdict, evidence, *stall);
    return true;
  }
  const auto wait = WaitBehind(root, evidence);
  if (wait) TakeWait(verdict, evidence, *wait);
  return wait.has_value();
}

}  // namespace answers
