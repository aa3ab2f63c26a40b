#include "answers/cause/root_claim.h"

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <set>
#include <tuple>

#include "answers/exit_finding.h"
#include "answers/peers/gathered_error.h"

namespace answers {
namespace {

// Whether a launcher says that this rank failed first or, for a file without rank prefixes, that
// one of the ranks that wrote it did.
bool IsHinted(const Evidence& evidence, const Rank& rank) {
  if (rank.rank) return rank.rank == evidence.first_rank;
  return FirstAmong(evidence, rank.name).has_value();
}

// By what the claims are ordered: the first of them is believed.
auto PlaceAmong(const Evidence& evidence, const Claim& claim) {
  const Finding& finding = claim.finding;
  return std::tuple(claim.is_overtaken, finding.level, claim.was_replaced, finding.is_doubtful,
                    finding.time.value_or(base::Time::max()),
                    !(claim.rank && IsHinted(evidence, evidence.ranks[*claim.rank])), finding.order,
                    claim.rank.value_or(SIZE_MAX));
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

}  // namespace

bool ComesBefore(const Evidence& evidence, const Claim& a, const Claim& b) {
  return PlaceAmong(evidence, a) < PlaceAmong(evidence, b);
}

RootClaim FindRoot(const Evidence& evidence, const std::vector<Claim>& claims) {
  const Claim& first = *std::min_element(
      claims.begin(), claims.end(),
      [&](const Claim& a, const Claim& b) { return ComesBefore(evidence, a, b); });
  const Claim& of_rank = NamedOf(evidence, claims, first);
  const Claim& raised = OfAbort(evidence, claims, OfMachine(evidence, claims, of_rank));
  return {of_rank, raised, OfGathered(evidence, claims, raised)};
}

}  // namespace answers
