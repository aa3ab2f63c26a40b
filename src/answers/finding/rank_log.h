// One rank's log, and what each of its lines is: work, a part of an exception, or the end.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "answers/finding.h"
#include "answers/traceback.h"

namespace answers {

// Lines are indices into the rank's. Borrows the rank.
class RankLog {
 public:
  explicit RankLog(const Rank& rank);

  const Rank& rank() const { return rank_; }
  const std::vector<Line>& lines() const { return rank_.lines; }
  const std::vector<Chain>& chains() const { return chains_; }
  // The index after the last line that shows work.
  size_t working_until() const { return working_until_; }

  bool IsInChain(size_t line) const;
  // The last chain that begins in this line or before it; null if there is none.
  const Chain* LastChainFrom(size_t line) const;
  // The last line above this one that is not empty.
  std::string_view Before(size_t line) const;
  // Whether the program says nothing from this line on.
  bool IsEnd(size_t line) const;
  // Whether the program has printed this line before, except for its numbers, and worked on;
  // `above_traceback`: also then with a traceback below it.
  bool WentOnAfter(std::string_view text, bool above_traceback) const;
  // OvertakenIn
  bool IsOvertaken(size_t line) const;
  // UCX logs as errors what it then does without: whether this is such a line, the program went on
  // behind it, and nothing there is about a failure.
  bool IsOfFabricThatWentOn(size_t line) const;
  // `first`, a part of this line, with the lines below that continue it.
  std::string WithLinesBelow(std::string_view first, size_t line) const;

  // Sets when and where the finding's line was printed.
  void Place(Finding& finding, size_t line) const;
  // What the rule says about this line.
  Finding TakeLine(size_t line, const Rule& rule) const;
  // The same of a line that nothing marks as an error: with medium confidence.
  Finding TakeLoose(size_t line, const Rule& rule) const;

 private:
  bool IsLoneLastLine(size_t line) const;
  bool IsOfOthers(const std::vector<size_t>& work) const;
  void ReadBehindFabric();
  std::string ReasonBefore(size_t closing) const;
  Frame CrashFrame(size_t line) const;

  const Rank& rank_;
  const std::vector<Chain> chains_;
  const std::vector<bool> overtaken_;
  size_t working_until_ = 0;
  size_t trouble_until_ = 0;  // the same of a failure (ReadBehindFabric)
  size_t going_on_until_ = 0;
};

}  // namespace answers
