#include "answers/cause/failed_rank.h"

#include <algorithm>
#include <csignal>
#include <set>
#include <string>
#include <string_view>

#include "answers/exit_finding.h"
#include "answers/peers/watchdog.h"
#include "answers/rank_number.h"
#include "answers/symptoms.h"

namespace answers {
namespace {

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

// muster-launch's "muster-launch: rank 1: a loss is not a number any more: step 5 loss nan".
std::optional<int> RankOfLostLoss(std::string_view line) {
  constexpr std::string_view kRank = "muster-launch: rank ";
  const size_t end = line.find(": a loss is not a number any more: ");
  if (!line.starts_with(kRank) || end == line.npos) return std::nullopt;
  return RankNumber(line.substr(kRank.size(), end - kRank.size()));
}

}  // namespace

void NameFailedRank(Verdict& verdict, const Evidence& evidence, const std::vector<Claim>& claims,
                    const RootClaim& found) {
  const auto& [of_rank, raised, root] = found;
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
}

}  // namespace answers
