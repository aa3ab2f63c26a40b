// Detects that the ranks of a job have stalled, and which rank holds them up. Pure. It gets the
// kernel's counters of every rank once a second, and asks for their stacks only when one stands
// still.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "answers/stall/stack.h"

namespace answers {

// Counters of one process, summed over its threads unless noted.
struct Activity {
  char state = '?';    // of the main thread: R, S, D, T, t
  uint64_t ticks = 0;  // CPU time including its children's, in clock ticks
  uint64_t switches =
      0;  // voluntary context switches of the main thread; without Python, of all threads
  uint64_t transfers = 0;  // read and write calls of the main thread
  uint64_t dumped = 0;     // bytes of stack dumps that it has written for anyone
};

struct RankLook {
  int rank = 0;
  int pid = 0;
  bool has_ended = false;  // with exit code 0; a failed rank ends the job
  // It has not met the others yet: torch's own store polls until they come, which is no progress,
  // nor is that it looks up a host's name again.
  bool may_poll = false;
  Activity activity{};
};

// What a rank waits for in the kernel.
struct KernelSleep {
  int pid = 0;
  std::string text;        // "waits for another thread (futex_do_wait)"; "" if it is unknown
  bool is_rest = false;    // programs that have nothing to do may sleep there, too
  bool is_server = false;  // it listens on a socket, so that it may only have no requests
};

struct Stall {
  enum class Kind {
    kStalled,  // the missing ranks do nothing at all
    kWaiting,  // the missing ranks are working: slow, not hung
  };
  Kind kind = Kind::kStalled;
  // Not before all processes that are known had begun: who has not begun holds up nobody.
  std::chrono::steady_clock::time_point since;
  std::vector<int> waiting, missing;  // ranks, ascending
  // "rank 1 has not entered all_reduce (train.py:88); it is at loader.py:31: time.sleep(60)"
  std::string text;
  // A recorder has not answered, as on a busy machine: a later judgement of the same stall may say
  // more, such as the number of the collective.
  bool is_partial = false;
};

// The end of the text of a stall whose ranks are in different calls.
inline constexpr std::string_view kWaitForEachOther = ": they wait for each other";

// Behind the name of a collective that not all ranks have entered, while no main thread waits in
// it.
inline constexpr std::string_view kEnteredByThreads =
    ", which others have entered (in another thread, or asynchronously)";

// "stalled", "waiting".
std::string_view NameOf(Stall::Kind kind);

// Whether the text of a stall says that ranks made different calls, or gave other sizes or types.
bool IsOfDifferentCalls(std::string_view stall);

// Whether the text of a stall names a rank that had not entered the call in which others waited.
bool NamesLateRank(std::string_view stall);

// For the others' time-outs while they waited for a rank that was at work.
inline constexpr std::string_view kAdviceOnSlowRank =
    "Give that rank less to do between two collective calls, or the others more patience: "
    "init_process_group(timeout=...).";

// "stalled 34 s: rank 1 ..."
std::string Say(const Stall& stall, std::chrono::steady_clock::time_point now);

// The stacks of all ranks, the rarest first (RenderStacks). `looks`: StallWatch::looks; `dumps`: by
// rank. Pure.
std::string RenderStacks(const std::vector<RankLook>& looks,
                         const std::map<int, std::string>& dumps);

// The rank whose end lets a stalled job start again: a missing one, or where nobody is missing one
// of those that wait for each other. Nullopt if a missing rank does not run: then the end of
// another would not help. `looks`: StallWatch::looks. Pure.
std::optional<int> RankToKill(const Stall& stall, const std::vector<RankLook>& looks);

// Whether the same process runs in both looks and has done nothing between them. False if somebody
// has asked it for its stack meanwhile: what it did then may have been the answer. Pure.
bool StandsStill(const RankLook& before, const RankLook& now);
// The same rank, if all that would have to go on stand still. Pure.
std::optional<int> RankToKill(const Stall& stall, const std::vector<RankLook>& before,
                              const std::vector<RankLook>& now);

// Which witness is missing when the text of a stall names a collective without its number; "" for
// any other. Pure.
std::string MissingRecorder(std::string_view stall);

// For one attempt of a job. Used by one thread.
class StallWatch {
 public:
  using Instant = std::chrono::steady_clock::time_point;
  // `after`: how long a rank must stand still before its stack is asked for. `is_whole`: the watch
  // sees all ranks of the job; otherwise only those of one machine, and the missing rank may be
  // elsewhere. `world`: the number of ranks.
  StallWatch(std::chrono::milliseconds after, bool is_whole, int world);

  // Call it once a second. Returns true when Judge needs the dumps of all ranks: at growing
  // intervals, but also in the next looks while a recorder has not answered.
  bool See(Instant now, const std::vector<RankLook>& looks);

  // By rank; only ranks that answered.
  struct Testimony {
    std::map<int, std::string> dumps;   // of their stacks (stack.h)
    std::map<int, std::string> traces;  // of their collectives (recorder.h)
    bool lacks_traces = false;          // a rank with a recorder has not answered in time
    std::set<int> mute{};               // ranks whose recorder gave no usable answer
    // There are pods that run, and in which no Python says where it is. A rank that nobody has seen
    // may be there: it need not have failed to start.
    bool has_silent_pods = false;
    // Ranks with other threads or processes that wait for a processor or a disk: slow, not hung.
    std::set<int> with_work{};
    // Pods of the job have not started yet: a rank that nobody has seen will come with them.
    bool awaits_pods = false;
    // Of ranks that run no Python that can be asked, and do not use a GPU.
    std::map<int, KernelSleep> kernel{};
    // What a rank sends without an answer: "connects to 10.0.0.2:37421 and gets no answer ...".
    std::map<int, std::string> unanswered{};
    // The source lines of ranks (LineOfDump) whose files may differ from those here.
    std::map<int, std::string> lines{};
    // Ranks whose stacks were too long for the way here: what they do is not known.
    std::set<int> cut{};

    // Adds what is known of other ranks.
    void Add(Testimony&& other);
  };
  // `line_of` returns the text of a line of a source file, "" when it cannot be read. It is not
  // asked for ranks in Testimony::lines.
  using LineOf = std::string (*)(std::string_view file, int line);
  // `now`: when See returned true. What has happened since is not known.
  void Judge(Instant now, const Testimony& testimony, LineOf line_of);

  // The present stall.
  const std::optional<Stall>& stall() const { return stall_; }
  // The looks of the last call of See.
  std::vector<RankLook> looks() const;

 private:
  struct Known {
    RankLook look;
    Instant seen;
    Instant still_since;  // no counter has changed since
    Instant idle_since;   // it has only polled since
    int disturbed = 0;    // for so many looks only work counts, because our question woke it up
    std::optional<Instant> polls_since{};  // its stacks say so, and it has not worked since
  };

  std::chrono::milliseconds after_;
  bool is_whole_;
  int world_;
  struct Starts {
    int count = 0;  // of the rank's processes that began while any rank stood still
    Instant last;   // of these, only of the first few
  };

  // The same collective in every judgement since then, while no main thread waits in one.
  struct Apart {
    std::string group;
    int64_t number = 0;
    Instant since;
  };

  std::map<int, Known> ranks_;
  std::map<int, Starts> starts_;
  std::optional<Apart> apart_;
  std::optional<Stall> stall_;
  std::optional<Instant> asked_;
  std::chrono::milliseconds next_ask_;
  bool lacks_answers_ = false;
  // Missing ranks that had not been idle for long enough when they were judged, perhaps because
  // somebody else had asked them.
  std::vector<int> nearly_idle_;
  int asked_soon_ = 0;
};

// The line on which the process with these stacks is, if its main thread is in the program's own
// code; "" otherwise. Printable ASCII.
std::string LineOfDump(std::string_view dump, StallWatch::LineOf line_of);

}  // namespace answers
