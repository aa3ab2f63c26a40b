// Lines of some ranks out of a log that has those of all (logs --rank, --grep).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arena/jobs/jobs.h"
#include "cli/terminal.h"

namespace arena {

// "3,5-7": from and to, both included. kInvalidArgument for anything else.
using Ranks = std::vector<std::pair<int, int>>;
base::Result<Ranks> ParseRanks(std::string_view text);
bool Contains(const Ranks& ranks, int rank);

// A job's instances by their node's rank, and how many ranks each of them runs (nprocPerNode; 1
// unless it is a number).
struct RankMap {
  std::vector<std::string> instances;
  int processes = 1;

  static RankMap Of(const text::Json& job);
  int size() const { return static_cast<int>(instances.size()) * processes; }
  // Of an instance's process; nullopt when there is none.
  std::optional<int> RankAt(std::string_view instance, int local) const;
  // That run one of these ranks.
  std::vector<std::string> InstancesOf(const Ranks& ranks) const;
};

// Takes the launcher's or torch's prefix "[rank3]:" off `line`: that rank; nullopt without one.
std::optional<int> TakeRank(std::string_view& line);

// `label` in the colour of a rank; neighbours have different ones.
std::string ColouredRank(int rank, std::string_view label);

// What the launcher of a pod tells of a rank's line that has no end yet: "[rank3]> 40%|###".
struct RankBar {
  int rank = 0;
  std::string text;
};
// Nullopt for any other line, and where no launcher starts several ranks in a pod.
std::optional<RankBar> TakeBar(const RankMap& map, std::string_view instance,
                               std::string_view line);

// The rank that a line of an instance is of, whose prefix is taken off: the one it names (among the
// job's, or among the instance's: "[local-rank1]:"), or the instance's only one. Nullopt where an
// instance has several.
std::optional<int> RankOf(const RankMap& map, std::string_view instance, std::string_view& line);

// Lines of these ranks (none given: of all) with that text in them.
struct LineChoice {
  Ranks ranks;
  std::string grep;  // "" is any
  RankMap map;

  bool Wants(std::string_view instance, std::string_view line) const;
};

// Passes on whole lines of one instance's log, on a terminal with the ranks in colours. Bars are
// told of, and are not passed on. Where all lines of a single rank are wanted, all is passed on as
// it comes.
class ChosenLines : public cli::Output {
 public:
  using TellBar = std::function<void(const RankBar& bar)>;

  ChosenLines(cli::Output& out, LineChoice choice, std::string instance, bool has_timestamps)
      : out_(out),
        choice_(std::move(choice)),
        instance_(std::move(instance)),
        has_timestamps_(has_timestamps),
        is_plain_(choice_.ranks.empty() && choice_.grep.empty() && choice_.map.processes == 1) {}

  base::Status Write(std::string_view text) override;
  // A last line without an end.
  base::Status Finish();
  // Of the bars, and with "" of a rank whose bar has become a line.
  void TellBars(TellBar tell) { tell_bar_ = std::move(tell); }
  bool IsTerminal() const override { return out_.IsTerminal(); }
  bool HasColour() const override { return out_.HasColour(); }
  int Width() const override { return out_.Width(); }

 private:
  // What is printed of it; "" is nothing.
  std::string Shown(std::string_view line);

  cli::Output& out_;
  const LineChoice choice_;
  const std::string instance_;
  const bool has_timestamps_;  // before the text
  const bool is_plain_;
  std::string rest_;
  TellBar tell_bar_;
};

}  // namespace arena
