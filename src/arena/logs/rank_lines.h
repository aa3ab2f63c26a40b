// Selects lines from a log by rank and text (logs --rank, --grep).
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arena/jobs/jobs.h"
#include "cli/terminal.h"

namespace arena {

// Parses "3,5-7"; both ends are included. kInvalidArgument for anything else.
using Ranks = std::vector<std::pair<int, int>>;
base::Result<Ranks> ParseRanks(std::string_view text);
bool Contains(const Ranks& ranks, int rank);

// A job's instances by node rank, and how many ranks each of them runs (nprocPerNode; 1 unless it
// is a number).
struct RankMap {
  std::vector<std::string> instances;
  int processes = 1;
  bool has_trials = false;  // of a sweep, whose lines begin with "[lr=0.1] "

  static RankMap Of(const text::Json& job);
  int size() const { return static_cast<int>(instances.size()) * processes; }
  // The rank of an instance's process; nullopt if there is none.
  std::optional<int> RankAt(std::string_view instance, int local) const;
  // The instances that run one of these ranks.
  std::vector<std::string> InstancesOf(const Ranks& ranks) const;
  // How many of these ranks the job has.
  int CountOf(const Ranks& ranks) const;
};

// `label` in the colour of a rank; neighbours differ.
std::string ColouredRank(int rank, std::string_view label);

// A rank's unfinished line as a pod's launcher reports it: "[rank3]> 40%|###".
struct RankBar {
  int rank = 0;
  std::string text;
};
// Nullopt for any other line, and if no launcher starts several ranks in a pod.
std::optional<RankBar> TakeBar(const RankMap& map, std::string_view instance,
                               std::string_view line);

// The rank of an instance's line, whose prefix it removes: the rank in the prefix (of the job, or
// of the instance: "[local-rank1]:"), else the instance's only rank. Nullopt if it has several.
std::optional<int> RankOf(const RankMap& map, std::string_view instance, std::string_view& line);

// Selects the lines of these ranks (empty: all) that contain a text.
struct LineChoice {
  Ranks ranks;
  std::string grep;  // "" for any
  RankMap map;

  bool Wants(std::string_view instance, std::string_view line) const;
};

// Passes on whole lines of one instance's log, on a terminal with the ranks in colours. Reports
// bars separately. If all lines of a single rank are selected, passes everything on as it comes.
class ChosenLines : public cli::Output {
 public:
  using OnBar = std::function<void(const RankBar& bar)>;

  ChosenLines(cli::Output& out, LineChoice choice, std::string instance, bool has_timestamps)
      : out_(out),
        choice_(std::move(choice)),
        instance_(std::move(instance)),
        has_timestamps_(has_timestamps),
        is_plain_(choice_.ranks.empty() && choice_.grep.empty() && choice_.map.processes == 1) {}

  base::Status Write(std::string_view text) override;
  // Passes on a last line without a newline, and the kept lines.
  base::Status Finish();
  // Passes on only the last `count` of the chosen lines, and only when it finishes.
  void KeepLast(size_t count) { keeps_ = count; }
  // Reports the bars; "" for a rank whose bar has become a line.
  void SetOnBar(OnBar on_bar) { on_bar_ = std::move(on_bar); }
  bool IsTerminal() const override { return out_.IsTerminal(); }
  bool HasColour() const override { return out_.HasColour(); }
  int Width() const override { return out_.Width(); }

 private:
  // The part of the line to print; "" for none.
  std::string Shown(std::string_view line);
  void Keep(std::string line);

  cli::Output& out_;
  const LineChoice choice_;
  const std::string instance_;
  const bool has_timestamps_;  // before the text
  const bool is_plain_;
  std::string rest_;
  std::optional<size_t> keeps_;
  std::deque<std::string> kept_;
  OnBar on_bar_;
};

}  // namespace arena
