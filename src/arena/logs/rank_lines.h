// Lines of some ranks out of a log that has those of all (logs --rank, --grep).
#pragma once

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
  // That run one of these ranks.
  std::vector<std::string> InstancesOf(const Ranks& ranks) const;
};

// Passes on whole lines: of these ranks (none given: of all) and with that text in them. A line
// that no rank's prefix marks is of the instance's only rank, and of none where an instance has
// several.
class ChosenLines : public cli::Output {
 public:
  struct Choice {
    Ranks ranks;
    std::string grep;  // "" is any
    RankMap map;
    std::string instance;         // whose log it is; "": each line begins with "[INSTANCE] "
    bool has_timestamps = false;  // before the text
  };
  ChosenLines(cli::Output& out, Choice choice) : out_(out), choice_(std::move(choice)) {}

  base::Status Write(std::string_view text) override;
  // A last line without an end.
  base::Status Finish();
  bool IsTerminal() const override { return out_.IsTerminal(); }
  bool HasColour() const override { return out_.HasColour(); }
  int Width() const override { return out_.Width(); }

 private:
  bool Wants(std::string_view line) const;

  cli::Output& out_;
  const Choice choice_;
  std::string rest_;
};

}  // namespace arena
