#include "answers/cause/ask_peers.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "answers/peers/gathered_error.h"
#include "answers/peers/named_rank.h"
#include "answers/peers/watchdog.h"

namespace answers {
namespace {

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

// Whether the evidence and the reports are of ranks 0 and 1 alone: one of them differs from the
// other, and the one that reports it has failed first.
bool AreTwo(const Evidence& evidence, const std::vector<Mismatch>& reports) {
  return std::all_of(evidence.ranks.begin(), evidence.ranks.end(),
                     [](const Rank& rank) { return rank.rank.value_or(0) < 2; }) &&
         std::all_of(reports.begin(), reports.end(),
                     [](const Mismatch& each) { return std::max(each.by, each.named) < 2; });
}

// The rank that reports a mismatch first is only one of those that see it, if others report it,
// too, or may have done so: each of them throws.
void AskMismatch(Verdict& verdict, const Evidence& evidence, const std::vector<Claim>& claims) {
  if (!BeginsMismatch(verdict.line)) return;
  const auto odd = OddInMismatch(evidence);
  const auto place = odd ? PlaceOf(evidence, *odd) : std::nullopt;
  std::set<size_t> reporting;
  std::vector<Mismatch> reports;
  for (size_t i = 0; i < evidence.ranks.size(); ++i) {
    for (const Line& line : evidence.ranks[i].lines) {
      const auto report = ReadMismatch(line.text);
      if (!report) continue;
      reports.push_back(*report);
      if (evidence.ranks[i].rank) reporting.insert(i);
    }
  }
  const bool is_first = evidence.first_rank || AreTwo(evidence, reports);
  if (place == verdict.rank || (!place && reporting.size() < 2 && is_first)) return;
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

}  // namespace

void AskPeers(Verdict& verdict, const Evidence& evidence, const std::vector<Claim>& claims,
              const RootClaim& found) {
  const Claim& root = found.root;
  if (root.finding.kind == "collective-timeout") {
    AskWatchdogs(verdict, evidence);
    AskTimedOut(verdict, evidence, claims);
  }
  if (root.finding.kind == "collective-mismatch") AskMismatch(verdict, evidence, claims);
  AskGathered(verdict, evidence, found.raised);
  if (root.finding.rule == "hang-horovod" || IsOfStallInspector(verdict.line)) {
    AskStallInspector(verdict, evidence);
  }
  if (const auto missing = MissingIn(evidence, root, verdict.line)) {
    if (const auto place = PlaceOf(evidence, *missing)) verdict.rank = place;
  } else if (root.finding.rule == "late-peer-barrier") {
    verdict.rank.reset();  // it waited for the one that did not come
  }
}

}  // namespace answers
