#include "runs/ledger/ledger.h"

#include <algorithm>
#include <set>

namespace runs {
namespace {

// The claim that holds at a moment: the highest layer, and within it the claim that began last, or
// was added last.
struct ByPrecedence {
  bool operator()(const Claim* a, const Claim* b) const {
    if (a->layer != b->layer) return a->layer > b->layer;
    if (a->begin != b->begin) return a->begin > b->begin;
    return a > b;
  }
};

struct Edge {
  Millis at;
  const Claim* claim;
  bool is_begin;
};

std::vector<Edge> EdgesOf(Millis begin, Millis end, const std::vector<Claim>& claims) {
  std::vector<Edge> edges;
  for (const Claim& claim : claims) {
    const Millis from = std::clamp(claim.begin, begin, end);
    const Millis to = std::clamp(claim.end, begin, end);
    if (to <= from) continue;
    edges.push_back({from, &claim, true});
    edges.push_back({to, &claim, false});
  }
  std::stable_sort(edges.begin(), edges.end(),
                   [](const Edge& a, const Edge& b) { return a.at < b.at; });
  return edges;
}

bool IsSame(const Segment& a, const Segment& b) {
  return a.bucket == b.bucket && a.is_measured == b.is_measured && a.source == b.source &&
         a.attempt == b.attempt;
}

class Timeline {
 public:
  Timeline(Millis at, const std::vector<Millis>& attempts) : at_(at), attempts_(attempts) {}

  // Until `end`, `claim` holds (nullptr: there is no claim).
  void Add(Millis end, const Claim* claim) {
    while (at_ < end) {
      while (next_ < attempts_.size() && attempts_[next_] <= at_) ++next_;
      Segment segment;
      segment.begin = at_;
      segment.end = next_ < attempts_.size() ? std::min(end, attempts_[next_]) : end;
      segment.attempt = static_cast<int>(next_) + 1;
      if (claim != nullptr) {
        segment.bucket = claim->bucket;
        segment.is_measured = claim->is_measured;
        segment.source = claim->source;
      }
      at_ = segment.end;
      if (!segments.empty() && IsSame(segments.back(), segment)) {
        segments.back().end = segment.end;
      } else {
        segments.push_back(std::move(segment));
      }
    }
  }

  std::vector<Segment> segments;

 private:
  Millis at_;
  const std::vector<Millis>& attempts_;
  size_t next_ = 0;
};

// Saturates, whatever number of GPUs a pod claims to hold.
int64_t Plus(int64_t sum, int64_t more) {
  int64_t result = 0;
  return __builtin_add_overflow(sum, more, &result) ? INT64_MAX : result;
}

int64_t Times(Millis millis, int64_t gpus) {
  int64_t result = 0;
  return __builtin_mul_overflow(millis, gpus, &result) ? INT64_MAX : result;
}

void Hold(const std::vector<Holding>& holdings, std::vector<Segment>& segments) {
  for (const Holding& holding : holdings) {
    auto segment = std::partition_point(segments.begin(), segments.end(), [&](const Segment& one) {
      return one.end <= holding.begin;
    });
    for (; segment != segments.end() && segment->begin < holding.end; ++segment) {
      const Millis from = std::max(segment->begin, holding.begin);
      const Millis to = std::min(segment->end, holding.end);
      if (to <= from || holding.gpus <= 0) continue;
      segment->gpu_millis = Plus(segment->gpu_millis, Times(to - from, holding.gpus));
    }
  }
}

}  // namespace

int64_t Ledger::gpu_millis() const {
  int64_t all = 0;
  for (const Sum& sum : sums) all = Plus(all, sum.gpu_millis);
  return all;
}

double Ledger::effective() const {
  if (wall() == 0) return 0;
  return static_cast<double>((*this)[Bucket::kSteps].millis) / static_cast<double>(wall());
}

double Ledger::goodput() const {
  const Millis held = wall() - (*this)[Bucket::kQueued].millis - (*this)[Bucket::kIdle].millis;
  if (held == 0) return 0;
  return static_cast<double>((*this)[Bucket::kSteps].millis) / static_cast<double>(held);
}

Ledger MakeLedger(Millis begin, Millis end, const std::vector<Claim>& claims,
                  const std::vector<Holding>& holdings, const std::vector<Millis>& attempts) {
  Ledger ledger;
  ledger.begin = begin;
  ledger.end = std::max(begin, end);
  Timeline timeline(begin, attempts);
  std::set<const Claim*, ByPrecedence> open;
  for (const Edge& edge : EdgesOf(begin, ledger.end, claims)) {
    timeline.Add(edge.at, open.empty() ? nullptr : *open.begin());
    if (edge.is_begin) {
      open.insert(edge.claim);
    } else {
      open.erase(edge.claim);
    }
  }
  timeline.Add(ledger.end, nullptr);
  ledger.segments = std::move(timeline.segments);
  Hold(holdings, ledger.segments);
  for (const Segment& segment : ledger.segments) {
    Sum& sum = ledger.sums[static_cast<size_t>(segment.bucket)];
    sum.millis += segment.length();
    if (!segment.is_measured) sum.estimated += segment.length();
    sum.gpu_millis = Plus(sum.gpu_millis, segment.gpu_millis);
    if (segment.source.empty()) continue;
    if (std::find(sum.sources.begin(), sum.sources.end(), segment.source) == sum.sources.end()) {
      sum.sources.push_back(segment.source);
    }
  }
  ledger.attempts = static_cast<int>(attempts.size()) + 1;
  return ledger;
}

Ledger AddedUp(const std::vector<Ledger>& ledgers) {
  Ledger all;
  all.attempts = 0;
  for (const Ledger& ledger : ledgers) {
    all.end = Plus(all.end, ledger.wall());
    all.attempts += ledger.attempts;
    for (size_t i = 0; i < kBuckets; ++i) {
      all.sums[i].millis = Plus(all.sums[i].millis, ledger.sums[i].millis);
      all.sums[i].estimated = Plus(all.sums[i].estimated, ledger.sums[i].estimated);
      all.sums[i].gpu_millis = Plus(all.sums[i].gpu_millis, ledger.sums[i].gpu_millis);
    }
  }
  return all;
}

}  // namespace runs
