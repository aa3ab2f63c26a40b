#include <cstdint>
#include <string>

#include "runs/ledger/life.h"
#include "runs/progress/history.h"
#include "runs/progress/rank_history.h"
#include "runs/progress/tracker.h"

// Lines of a training, and the files in which its progress and its ranks are kept.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  runs::Tracker tracker;
  runs::Millis at = 0;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    tracker.See(at += 100, text.substr(begin, end - begin));
    begin = end + 1;
  }
  runs::Life life;
  life.now = at + 1000;
  life.lives.emplace_back().started = 0;
  life.steps = tracker.steps();
  const runs::Ledger ledger = runs::LedgerOf(life);
  runs::Millis sum = 0;
  for (const runs::Segment& segment : ledger.segments) sum += segment.length();
  if (sum != ledger.wall()) __builtin_trap();

  runs::History history = runs::History::Read(text);
  const std::string file = history.Compacted();
  // What was kept is read as it was written, but for times that are farther apart than they can be.
  const runs::History again = runs::History::Read(file);
  if (again.Latest().size() != history.Latest().size()) __builtin_trap();
  for (const runs::SourceProgress& source : again.Latest()) runs::DescribeProgress(source);

  const std::vector<runs::RankSample> samples = runs::ReadRankLines(text);
  if (runs::ReadRankLines(runs::RankLines(samples)) != samples) __builtin_trap();
  const std::vector<runs::RankSample> thinned = runs::Thinned(samples);
  if (thinned.size() > samples.size()) __builtin_trap();
  runs::RankGrid(thinned, runs::kMostColumns);
  return 0;
}
