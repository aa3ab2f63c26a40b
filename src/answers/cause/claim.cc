#include "answers/cause/claim.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "answers/program_words.h"
#include "answers/rule.h"

namespace answers {
namespace {

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

}  // namespace

std::optional<size_t> PlaceOf(const Evidence& evidence, int number) {
  for (size_t i = evidence.ranks.size(); i-- > 0;) {  // the last of several attempts
    if (evidence.ranks[i].rank == number) return i;
  }
  return std::nullopt;
}

std::optional<size_t> FirstAmong(const Evidence& evidence, std::string_view name) {
  for (size_t i = 0; evidence.first_rank && i < evidence.ranks.size(); ++i) {
    const Rank& rank = evidence.ranks[i];
    if (rank.rank == evidence.first_rank && rank.name == name) return i;
  }
  return std::nullopt;
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

void TakeFrame(Verdict& verdict, const Frame& frame) {
  verdict.file = frame.file;
  verdict.function = frame.function;
  verdict.file_line = frame.line;
}

}  // namespace answers
