// LogFold: shows lines that several ranks print once. Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "arena/logs/log_lines.h"
#include "base/clock.h"

namespace arena {

// {0,1,2,3,7} as "0-3,7"; "all but 5" if few of `total` are missing.
std::string NameRanks(const std::set<int>& ranks, int total);

// A line of one rank waits kWindow for the same line of the others, and kPatience for the ranks
// that printed the line before it, too, and are not far ahead: those are probably just late. Lines
// are the same if they differ only in numbers, which are shown as a range ("loss 0.51..0.53").
// Lines of a rank keep their order. Repetitions of a line are counted, and a progress bar's last
// state is shown.
class LogFold {
 public:
  using Moment = std::chrono::steady_clock::time_point;

  static constexpr std::chrono::milliseconds kWindow{500};
  static constexpr std::chrono::milliseconds kPatience{2000};
  static constexpr std::chrono::seconds kRepeatWindow{2};   // then the count is shown
  static constexpr std::chrono::seconds kRepeatPeriod{10};  // and this often while a line goes on
  static constexpr size_t kMaxHeld = 16384;                 // lines; beyond, the oldest do not wait

  struct Style {
    int ranks = 1;            // of the job
    bool has_stamps = false;  // the first one's, before the text
    bool has_colours = false;
  };
  explicit LogFold(const Style& style) : style_(style) {}

  // `rank`: nullopt for a line of `name` that belongs to none of its ranks. Call it in the order of
  // the lines' times.
  void Add(std::optional<int> rank, const std::string& name, TimedLine line, Moment arrival);
  // The lines that no longer wait, by the clock or the times of later lines.
  std::string Take(Moment now);
  // The rest.
  std::string TakeAll();
  // When Take will return something; nullopt while nothing is held.
  std::optional<Moment> NextAt() const;

 private:
  // A number in a line, with the ranks' values.
  struct Number {
    std::string least, greatest;
    double low = 0, high = 0;
  };
  using Ranks = std::shared_ptr<std::set<int>>;
  struct Line {
    std::string key;  // the text with kHole for each number
    std::vector<Number> numbers;
    Ranks ranks = std::make_shared<std::set<int>>();
    Ranks before;  // the ranks of the line that its first rank printed before; null if none
    bool is_moved = false;  // to a later place: nothing is here
    std::string name, stamp;
    std::optional<base::Time> time;
    Moment arrival;
  };

  static Line Read(std::string_view text);
  static std::string TextOf(const Line& line);
  bool Join(int rank, Line& line);
  void MoveHere(int rank, Line& line);
  static void Widen(Line& held, Line& line);
  bool IsAwaited(const Line& line, uint64_t number) const;
  bool IsClosed(const Line& line, uint64_t number, std::optional<Moment> now) const;
  void Emit(std::string& out);
  void NoteApart(const Line& line);
  void EmitRepeats(std::string& out);
  std::string LabelOf(const Line& line) const;

  const Style style_;
  std::deque<Line> held_;
  uint64_t first_ = 1;                                        // number of held_'s first line
  std::unordered_map<std::string, std::set<uint64_t>> open_;  // by key: numbers in held_
  std::map<int, uint64_t> last_of_;                           // by rank: its newest line's number
  std::map<int, Ranks> with_;                                 // by rank: the ranks of that line
  std::unordered_map<std::string, std::set<int>> apart_;      // by key: ranks awaited in vain
  std::optional<base::Time> newest_;
  std::string last_;  // the last line shown, without its stamp
  std::string last_label_;
  Moment first_repeat_{}, last_repeat_{};  // of those that are counted
  size_t repeats_ = 0;
};

}  // namespace arena
