#include "runs/progress/log_reading.h"

namespace runs {
namespace {

constexpr size_t kMostRanks = 1024;  // how many ranks' tracebacks are followed

// Whether "rank3" comes before another rank; a line without a label belongs to no rank.
bool IsLowerRank(std::string_view label, std::string_view than) {
  if (label.empty()) return false;
  return label.size() != than.size() ? label.size() < than.size() : label < than;
}

}  // namespace

LogReading::Found LogReading::See(Millis at, std::string_view rank, std::string_view text) {
  Found found;
  while (!text.empty() && text.back() == '\r') text.remove_suffix(1);
  if (const size_t over = text.rfind('\r'); over != std::string_view::npos) {
    text.remove_prefix(over + 1);
  }
  if (IsSource(rank, text)) return found;
  if (!rank_ || *rank_ == rank) found.checkpoint = checkpoints_.See(at, text);
  auto progress = ProgressIn(text);
  if (!progress || !IsOfTraining(*progress)) return found;
  if (!rank_ || IsLowerRank(rank, *rank_)) rank_ = rank;
  if (*rank_ == rank) found.progress = std::move(progress);
  return found;
}

bool LogReading::IsSource(std::string_view rank, std::string_view text) {
  auto known = sources_.find(rank);
  if (known == sources_.end()) {
    if (sources_.size() >= kMostRanks) return false;
    known = sources_.try_emplace(std::string(rank)).first;
  }
  return known->second.Contain(text);
}

}  // namespace runs
