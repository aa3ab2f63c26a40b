#include "answers/stall/stall.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "answers/stall/recorder.h"
#include "base/strings.h"

namespace answers {
namespace {

using std::chrono::duration_cast;
using std::chrono::milliseconds;
using std::chrono::seconds;

// A slow rank is reported later than a hung one, because the end of an epoch, a checkpoint or a
// compilation takes this long.
constexpr seconds kSlow{10};
constexpr milliseconds kLongestPause{60'000};
// If a recorder's answer is late, the rank is asked again soon, but only a few times: each question
// about its stack interrupts the rank.
constexpr milliseconds kSoon{1'000};
constexpr int kMostSoon = 4;
constexpr seconds kLongestSettling{3};
// A rank that answered goes back to sleep a moment after its last byte.
constexpr int kDisturbedLooks = 2;
// A rank that starts more often while others wait is what they wait for.
constexpr int kFewStarts = 2;
constexpr uint64_t kIdleTicks = 10;  // per second: ten per cent of a CPU
constexpr size_t kMostDescribed = 3;
constexpr size_t kLongestSource = 80;

// Threads that keep a connection alive or draw a progress bar always use a per cent or two of a
// CPU.
bool HasWorked(const Activity& before, const Activity& now) {
  return now.ticks > before.ticks + kIdleTicks;
}

bool HasDone(const Activity& before, const Activity& now) {
  return now.switches > before.switches + 1 || now.transfers != before.transfers ||
         HasWorked(before, now) || now.state == 'R' || now.state == 'D';
}

bool HasMoved(const Activity& before, const Activity& now) {
  return now.switches != before.switches || HasDone(before, now);
}

struct Found {
  int rank = 0;
  int pid = 0;
  bool has_ended = false;
  bool has_started = true;
  bool starts_often = false;
  std::optional<KernelSleep> kernel;  // it runs no Python that can be asked
  bool is_unseen = false;             // it may run without a Python that says where it is
  bool may_come = false;              // its pod may not have started yet
  bool is_cut = false;                // its stacks were too long
  bool is_still = false;
  bool polls = false;  // for the others, for as long
  bool is_idle = false;
  bool has_work = false;
  std::chrono::steady_clock::time_point idle_since;
  char state = '?';
  Doing doing;
  std::string source;  // the line of the program's own code

  bool IsWaiting() const {
    return (is_still || polls) && doing.kind == Doing::Kind::kWaiting && state != 'T' &&
           state != 't';
  }
  std::string Wait() const { return fmt::format("{} ({})", doing.what, doing.where); }
};

std::string Describe(const Found& found) {
  if (found.has_ended) return "has ended with exit code 0";
  if (found.kernel && !found.has_ended && found.state != 'T') {
    return fmt::format("runs no Python that says where it is{}{}",
                       found.kernel->text.empty() ? "" : ", and ", found.kernel->text);
  }
  if (found.is_unseen) return "runs no Python that says where it is";
  if (!found.has_started) return "has not started";
  if (found.state == 'T') {
    return fmt::format("is stopped by a signal: kill -CONT {} lets it go on", found.pid);
  }
  if (found.state == 't') return "is held by a debugger";
  if (found.is_cut) return "has stacks that are too long to be sent";
  const Doing& doing = found.doing;
  const std::string source = found.source.empty() ? "" : ": " + found.source;
  const std::string inner = doing.inner.empty() ? "" : fmt::format(", in {}", doing.inner);
  const std::string place =
      fmt::format("at {}{}", doing.where, doing.inner.empty() ? source : inner);
  switch (doing.kind) {
    case Doing::Kind::kSilent:
      return found.state == 'D' ? "is in uninterruptible sleep (state D)"
                                : "does not say where it is";
    case Doing::Kind::kSaving:
      return fmt::format("saves or loads, {}", place);
    case Doing::Kind::kCompiling:
      return fmt::format("compiles, {}", place);
    case Doing::Kind::kDebugging:
      return fmt::format("is in a debugger, {}", place);
    case Doing::Kind::kWaiting:
    case Doing::Kind::kOwn:
      break;
  }
  if (found.state == 'D') return fmt::format("is in uninterruptible sleep (state D), {}", place);
  if (!found.is_idle) return fmt::format("is busy {}", place);
  return fmt::format("is {}", place);
}

// Whether this can only mean that the rank does not go on.
bool IsHung(const Found& found) {
  if (found.is_unseen || found.may_come) return false;
  if (found.has_ended || !found.has_started || found.state == 'T') return true;
  if (found.kernel || found.is_cut) return false;
  if (found.state == 'D' || found.state == 't') return false;
  return found.is_idle &&
         (found.doing.kind == Doing::Kind::kOwn || found.doing.kind == Doing::Kind::kSilent);
}

std::vector<int> RanksOf(const std::vector<Found>& found) {
  std::vector<int> ranks;
  for (const Found& each : found) ranks.push_back(each.rank);
  return ranks;
}

// Describes what each of the first few ranks does.
std::string DescribeEach(const std::vector<Found>& missing) {
  std::string text;
  const bool has_one = missing.size() == 1;
  for (size_t i = 0; i < std::min(missing.size(), kMostDescribed); ++i) {
    text += fmt::format("; {} {}{}", has_one ? "it" : fmt::format("rank {}", missing[i].rank),
                        missing[i].starts_often ? "starts again and again, and " : "",
                        Describe(missing[i]));
  }
  if (missing.size() > kMostDescribed) {
    text += fmt::format("; and {} more", missing.size() - kMostDescribed);
  }
  return text;
}

std::string HasOrHave(const std::vector<Found>& found) {
  return fmt::format("{} {}", NameRanks(RanksOf(found)), found.size() == 1 ? "has" : "have");
}

// `wait` is what most of the waiting ranks wait in.
std::string SayMissing(const std::vector<Found>& missing, const std::string& wait) {
  return fmt::format("{} not entered {}{}", HasOrHave(missing), wait, DescribeEach(missing));
}

// If no rank waits in the program, the job may still wait for ranks that have not ended with the
// others and do nothing. That may be intended, so that they are never called stalled.
std::optional<Stall> FindUnended(const std::vector<Found>& ranks,
                                 std::chrono::steady_clock::time_point now) {
  std::vector<Found> left;
  std::copy_if(ranks.begin(), ranks.end(), std::back_inserter(left),
               [](const Found& rank) { return !rank.has_ended; });
  if (left.empty() || left.size() == ranks.size()) return std::nullopt;
  Stall stall;
  for (const Found& rank : left) {
    if (!rank.has_started || now - rank.idle_since < kSlow) return std::nullopt;
    stall.since = std::max(stall.since, rank.idle_since);
  }
  stall.kind = Stall::Kind::kWaiting;
  stall.waiting = stall.missing = RanksOf(left);
  stall.text =
      fmt::format("{} not ended, and the others have{}", HasOrHave(left), DescribeEach(left));
  return stall;
}

// Who runs no Python cannot say for whom it waits. But if no rank does anything for long, and they
// do not all just sleep, as those of an idle server do, they may hang.
std::optional<Stall> FindIdle(const std::vector<Found>& ranks,
                              std::chrono::steady_clock::time_point now) {
  Stall stall;
  std::map<std::string, std::vector<const Found*>> alike;
  bool is_rest = true;
  for (const Found& rank : ranks) {
    if (!rank.kernel || rank.kernel->is_server) return std::nullopt;
    if (!rank.is_still || !rank.is_idle) return std::nullopt;
    if (now - rank.idle_since < kSlow) return std::nullopt;
    stall.since = std::max(stall.since, rank.idle_since);
    is_rest = is_rest && rank.kernel->is_rest;
    alike[rank.kernel->text].push_back(&rank);
  }
  if (is_rest) return std::nullopt;
  stall.kind = Stall::Kind::kWaiting;
  stall.waiting = RanksOf(ranks);
  std::vector<std::pair<std::string, std::vector<const Found*>>> groups(alike.begin(), alike.end());
  std::stable_sort(groups.begin(), groups.end(),
                   [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
  stall.text = "no rank does anything, and none runs Python that says where it is";
  const char* mark = ": ";
  for (const auto& [text, group] : groups) {
    std::vector<int> names;
    for (const Found* const each : group) names.push_back(each->rank);
    const std::string pid =
        names.size() == 1 ? fmt::format(" (pid {})", group[0]->kernel->pid) : "";
    stall.text += fmt::format("{}{}{}: {}{}", std::exchange(mark, "; "), NameRanks(names), pid,
                              names.size() == 1 ? "" : "each ", text.empty() ? "sleeps" : text);
  }
  return stall;
}

// A collective in which no main thread waits: another one does, or it is asynchronous. What the
// threads do is not known well enough to call anybody stalled.
std::optional<Stall> FindOfThreads(const std::vector<Found>& ranks, const Disagreement& differ,
                                   std::chrono::steady_clock::time_point since) {
  std::vector<Found> missing;
  for (const Found& rank : ranks) {
    if (rank.has_ended || !rank.has_started || !rank.is_idle) return std::nullopt;
    if (differ.odd.contains(rank.rank)) missing.push_back(rank);
  }
  Stall stall;
  stall.kind = Stall::Kind::kWaiting;
  stall.since = since;
  stall.waiting = differ.others;
  stall.missing = RanksOf(missing);
  stall.text = differ.kind == Disagreement::Kind::kMissing
                   ? SayMissing(missing, NameOf(differ.expected, differ.number) +
                                             std::string(kEnteredByThreads))
                   : SayMismatch(differ, {});
  return stall;
}

// What Python calls "all_gather_into_tensor" is "_all_gather_base" in the backend.
bool AreAlike(std::string_view called, std::string_view recorded) {
  std::string plain(recorded);
  std::erase(plain, '_');
  std::string other(called);
  std::erase(other, '_');
  return plain == other;
}

// The ranks in the collective with that number wait for it, so that its name describes what they
// do.
void AddNumber(const Disagreement& found, std::vector<Found>& waiting) {
  const auto is_in = [&](int rank) {
    return std::find(found.others.begin(), found.others.end(), rank) != found.others.end();
  };
  const std::string name = NameOf(found.expected, found.number);
  for (Found& each : waiting) {
    if (!is_in(each.rank)) continue;
    each.doing.what = AreAlike(each.doing.what, found.expected.name)
                          ? fmt::format("{} #{}", each.doing.what, found.number)
                          : fmt::format("{}, in {}", each.doing.what, name);
  }
}

std::optional<Disagreement> CompareTexts(const std::map<int, std::string>& texts) {
  std::map<int, Trace> traces;
  for (const auto& [rank, text] : texts) {
    if (auto trace = ReadTrace(text)) traces[rank] = std::move(*trace);
  }
  return traces.size() < 2 ? std::nullopt : Compare(traces);
}

// Groups ranks by where they wait, the smallest group first.
std::vector<std::vector<Found>> ByWait(const std::vector<Found>& waiting) {
  std::map<std::string, std::vector<Found>> by_wait;
  for (const Found& each : waiting) by_wait[each.Wait()].push_back(each);
  std::vector<std::vector<Found>> groups;
  for (auto& [wait, group] : by_wait) groups.push_back(std::move(group));
  std::stable_sort(groups.begin(), groups.end(),
                   [](const auto& a, const auto& b) { return a.size() < b.size(); });
  return groups;
}

std::string SayApart(const std::vector<std::vector<Found>>& groups) {
  if (groups.size() == 1) {
    return fmt::format(
        "{} are all in {} and none goes on: do they pass equal shapes, and reach each other?",
        NameRanks(RanksOf(groups[0])), groups[0][0].Wait());
  }
  std::string text;
  for (const auto& group : groups) {
    text += fmt::format("{}{} {} in {}", text.empty() ? "" : ", ", NameRanks(RanksOf(group)),
                        group.size() == 1 ? "is" : "are", group[0].Wait());
  }
  return text + std::string(kWaitForEachOther);
}

// Names the ranks whose flight recorder gave no usable answer, except those that are known to be
// stopped.
std::string SayMute(const StallWatch::Testimony& testimony, const std::vector<Found>& missing) {
  std::set<int> ranks = testimony.mute;
  for (const auto& [rank, text] : testimony.traces) {
    if (!ReadTrace(text)) ranks.insert(rank);
  }
  for (const Found& each : missing) {
    if (each.state == 'T' || each.state == 't') ranks.erase(each.rank);
  }
  if (ranks.empty()) return "";
  const std::vector<int> mute(ranks.begin(), ranks.end());
  return fmt::format("; no usable answer of the flight recorder of {}", NameRanks(mute));
}

std::string SourceOf(const Doing& doing, StallWatch::LineOf line_of) {
  if (doing.own.file.empty() || !doing.inner.empty()) return "";
  std::string line(base::Trim(line_of(doing.own.file, doing.own.line)));
  for (char& c : line) {
    if (c < ' ' || c > '~') c = c == '\t' ? ' ' : '?';
  }
  return line;
}

}  // namespace

std::string_view NameOf(Stall::Kind kind) {
  return kind == Stall::Kind::kStalled ? "stalled" : "waiting";
}

std::string Say(const Stall& stall, std::chrono::steady_clock::time_point now) {
  return fmt::format("{} {} s: {}", NameOf(stall.kind),
                     duration_cast<seconds>(now - stall.since).count(), stall.text);
}

std::string RenderStacks(const std::vector<RankLook>& looks,
                         const std::map<int, std::string>& dumps) {
  std::vector<RankStack> stacks;
  for (const RankLook& look : looks) {
    const auto dump = dumps.find(look.rank);
    stacks.push_back({fmt::format("rank {} (pid {})", look.rank, look.pid),
                      dump == dumps.end() ? "" : dump->second,
                      look.has_ended ? "has ended with exit code 0" : "gave no stack"});
  }
  return "stacks, the rarest first:\n" + RenderStacks(stacks, false);
}

std::optional<int> RankToKill(const Stall& stall, const std::vector<RankLook>& looks) {
  const std::vector<int>& ranks = stall.missing.empty() ? stall.waiting : stall.missing;
  const bool all_run = std::all_of(ranks.begin(), ranks.end(), [&looks](int rank) {
    return std::any_of(looks.begin(), looks.end(), [rank](const RankLook& look) {
      return look.rank == rank && !look.has_ended;
    });
  });
  return ranks.empty() || !all_run ? std::nullopt : std::optional(ranks.front());
}

bool StandsStill(const RankLook& before, const RankLook& now) {
  return before.rank == now.rank && before.pid == now.pid && !before.has_ended && !now.has_ended &&
         before.activity.dumped == now.activity.dumped && !HasDone(before.activity, now.activity);
}

std::optional<int> RankToKill(const Stall& stall, const std::vector<RankLook>& before,
                              const std::vector<RankLook>& now) {
  const std::vector<int>& ranks = stall.missing.empty() ? stall.waiting : stall.missing;
  const bool all_stand = std::all_of(ranks.begin(), ranks.end(), [&](int rank) {
    return std::any_of(before.begin(), before.end(), [&](const RankLook& first) {
      return first.rank == rank && std::any_of(now.begin(), now.end(), [&](const RankLook& second) {
               return StandsStill(first, second);
             });
    });
  });
  return all_stand ? RankToKill(stall, now) : std::nullopt;
}

StallWatch::StallWatch(milliseconds after, bool is_whole, int world)
    : after_(after), is_whole_(is_whole), world_(world), next_ask_(after) {}

bool StallWatch::See(Instant now, const std::vector<RankLook>& looks) {
  std::map<int, Known> seen;
  bool has_new = false;
  for (const RankLook& look : looks) {
    const auto before = ranks_.find(look.rank);
    Known known{look, now, now, now};
    const bool is_same =
        before != ranks_.end() && (before->second.look.pid == look.pid || look.has_ended);
    if (!is_same) {
      has_new = true;
      Starts& starts = starts_[look.rank];
      if (++starts.count <= kFewStarts) starts.last = now;
    }
    if (before != ranks_.end() && before->second.look.pid == look.pid &&
        before->second.look.has_ended == look.has_ended) {
      const Activity& last = before->second.look.activity;
      known.disturbed = look.activity.dumped != last.dumped
                            ? kDisturbedLooks
                            : std::max(0, before->second.disturbed - 1);
      const auto stays = [&](bool (*has)(const Activity&, const Activity&)) {
        return look.has_ended || !(known.disturbed > 0 ? HasWorked : has)(last, look.activity);
      };
      if (stays(look.may_poll ? HasWorked : HasMoved)) {
        known.still_since = before->second.still_since;
      }
      if (stays(HasDone)) known.idle_since = before->second.idle_since;
      if (stays(HasWorked)) known.polls_since = before->second.polls_since;
      // Our question, or the little work that a busy machine lets the rank do, is neither progress
      // nor idleness: this time does not count.
      if (known.disturbed > 0 && !look.has_ended && HasDone(last, look.activity) &&
          !HasWorked(last, look.activity)) {
        known.idle_since += now - before->second.seen;
      }
    }
    seen[look.rank] = known;
  }
  ranks_ = std::move(seen);

  if (has_new) {
    // What was known about the process before it does not hold for it.
    stall_.reset();
    apart_.reset();
    asked_.reset();
    next_ask_ = after_;
  }
  if (stall_) {
    const bool go_on = std::any_of(stall_->waiting.begin(), stall_->waiting.end(), [&](int rank) {
      const auto known = ranks_.find(rank);
      return known == ranks_.end() || known->second.look.has_ended ||
             (known->second.still_since == now && !known->second.polls_since);
    });
    if (go_on) stall_.reset();
  }
  // The longest time that any rank that may be waiting has stood still.
  milliseconds longest{0};
  for (const auto& [rank, known] : ranks_) {
    if (known.look.has_ended) continue;
    longest = std::max(longest, duration_cast<milliseconds>(now - known.still_since));
  }
  if (longest < after_) {
    for (auto& [rank, starts] : starts_) starts.count = 0;
    asked_.reset();
    next_ask_ = after_;
    lacks_answers_ = false;
    nearly_idle_.clear();
    asked_soon_ = 0;
    return false;
  }
  // A rank that somebody has just asked is not known to be idle, and to ask it would disturb it
  // again.
  const bool settles = std::any_of(ranks_.begin(), ranks_.end(), [&](const auto& each) {
    const Known& known = each.second;
    return !known.look.has_ended && !known.look.may_poll && now - known.still_since >= after_ &&
           now - known.idle_since < after_;
  });
  if (settles && !asked_ && longest < after_ + kLongestSettling) return false;
  const bool is_idle_now = std::any_of(nearly_idle_.begin(), nearly_idle_.end(), [&](int rank) {
    const auto known = ranks_.find(rank);
    return known != ranks_.end() && now - known->second.idle_since >= after_;
  });
  const bool is_soon = asked_ && (lacks_answers_ || is_idle_now) && asked_soon_ < kMostSoon;
  if (asked_ && now - *asked_ < (is_soon ? kSoon : next_ask_)) return false;
  if (is_soon) {
    ++asked_soon_;
  } else if (asked_) {
    next_ask_ = std::min(next_ask_ * 2, kLongestPause);
  }
  asked_ = now;
  return true;
}

std::vector<RankLook> StallWatch::looks() const {
  std::vector<RankLook> looks;
  for (const auto& [rank, known] : ranks_) looks.push_back(known.look);
  return looks;
}

std::string LineOfDump(std::string_view dump, StallWatch::LineOf line_of) {
  const auto stacks = ReadStacks(dump);
  return stacks.empty() ? "" : SourceOf(WhatItDoes(stacks[0].frames), line_of);
}

void StallWatch::Testimony::Add(Testimony&& other) {
  dumps.merge(other.dumps);
  traces.merge(other.traces);
  lacks_traces = lacks_traces || other.lacks_traces;
  mute.merge(other.mute);
  has_silent_pods = has_silent_pods || other.has_silent_pods;
  with_work.merge(other.with_work);
  awaits_pods = awaits_pods || other.awaits_pods;
  kernel.merge(other.kernel);
  unanswered.merge(other.unanswered);
  lines.merge(other.lines);
  cut.merge(other.cut);
}

void StallWatch::Judge(Instant now, const Testimony& testimony, LineOf line_of) {
  lacks_answers_ = testimony.lacks_traces;
  nearly_idle_.clear();
  std::vector<Found> waiting;
  std::vector<Found> missing;
  Instant since = now;
  Instant all_began{};
  bool have_pollers = false;
  for (auto& [rank, known] : ranks_) {
    const Starts& starts = starts_.at(rank);
    all_began = std::max(all_began, starts.last);
    Found found;
    found.starts_often = starts.count > kFewStarts;
    found.rank = rank;
    found.pid = known.look.pid;
    found.has_ended = known.look.has_ended;
    found.is_still = now - known.still_since >= after_;
    found.has_work = testimony.with_work.contains(rank);
    if (found.has_work) known.idle_since = now;
    found.state = known.look.activity.state;
    found.is_cut = testimony.cut.contains(rank);
    if (const auto kernel = testimony.kernel.find(rank); kernel != testimony.kernel.end()) {
      found.kernel = kernel->second;
    }
    // This also counts while the rank is disturbed: it may have work but get no processor.
    found.is_idle = now - known.idle_since >= after_ && found.state != 'R';
    found.idle_since = known.idle_since;
    const auto dump = testimony.dumps.find(rank);
    const auto stacks =
        dump == testimony.dumps.end() ? std::vector<ThreadStack>() : ReadStacks(dump->second);
    if (!stacks.empty()) found.doing = WhatItDoes(stacks[0].frames);
    known.polls_since =
        found.doing.polls ? std::optional(known.polls_since.value_or(now)) : std::nullopt;
    found.polls = known.polls_since && now - *known.polls_since >= after_;
    const auto line = testimony.lines.find(rank);
    found.source = line != testimony.lines.end() ? line->second : SourceOf(found.doing, line_of);
    // Waiting for an asynchronous collective has no frame of its own.
    if (found.doing.kind == Doing::Kind::kOwn && found.source.find(".wait(") != std::string::npos) {
      found.doing.kind = Doing::Kind::kWaiting;
      found.doing.what = "wait";
    }
    if (found.source.size() > kLongestSource) found.source.resize(kLongestSource);
    // These views point into a dump that may not outlive this loop.
    found.doing.own = {};
    if (!found.has_ended && found.IsWaiting()) {
      since = std::min({since, known.still_since, known.polls_since.value_or(now)});
      have_pollers = have_pollers || found.polls;
      waiting.push_back(std::move(found));
    } else {
      if (!found.has_ended && now - known.idle_since < after_) nearly_idle_.push_back(rank);
      missing.push_back(std::move(found));
    }
  }
  for (int rank = 0; is_whole_ && rank < world_; ++rank) {
    if (ranks_.contains(rank)) continue;
    Found& found = missing.emplace_back();
    found.rank = rank;
    found.has_started = false;
    found.may_come = testimony.awaits_pods;
    found.is_unseen = testimony.has_silent_pods && !testimony.awaits_pods;
  }
  std::sort(missing.begin(), missing.end(),
            [](const Found& a, const Found& b) { return a.rank < b.rank; });
  const bool was_said = std::exchange(stall_, std::nullopt).has_value();
  if (waiting.empty()) stall_ = FindUnended(missing, now);
  if (waiting.empty() && !stall_ && is_whole_) stall_ = FindIdle(missing, now);
  const auto differ = CompareTexts(testimony.traces);
  if (!differ || !waiting.empty()) {
    apart_.reset();
  } else if (!apart_ || apart_->group != differ->group || apart_->number != differ->number) {
    apart_ = {differ->group, differ->number, now};
  }
  // Who polls, or runs another thread, does not show that it goes on.
  if (apart_ || have_pollers) next_ask_ = after_;
  if (apart_ && !stall_ && now - apart_->since >= kSlow) {
    stall_ = FindOfThreads(missing, *differ, apart_->since);
  }
  // To ask these wakes nobody up.
  if (testimony.dumps.empty() && !testimony.kernel.empty()) next_ask_ = kSoon;
  if (waiting.empty() || (missing.empty() && !is_whole_)) return;

  Stall stall;
  stall.since = std::max(since, all_began);
  stall.waiting = RanksOf(waiting);
  stall.missing = RanksOf(missing);
  stall.is_partial = lacks_answers_;
  if (differ) AddNumber(*differ, waiting);
  const auto groups = ByWait(waiting);
  if (differ && differ->kind != Disagreement::Kind::kMissing) {
    std::map<int, std::string> places;
    for (const Found& each : waiting) places[each.rank] = each.doing.where;
    stall.text = SayMismatch(*differ, places);
    stall.missing.clear();
    for (const auto& [rank, call] : differ->odd) {
      stall.missing.push_back(rank);
      const bool has_stack = testimony.dumps.contains(rank) || !ranks_.contains(rank);
      stall.is_partial = lacks_answers_ = lacks_answers_ || !has_stack;
    }
  } else if (missing.empty()) {
    stall.text = SayApart(groups);
    // If all wait in the same place, the network may be slow; and a call that one of them has left
    // may still have to be finished by another.
    const bool is_on_its_way = std::any_of(waiting.begin(), waiting.end(),
                                           [](const Found& each) { return each.has_work; });
    if (groups.size() == 1 || is_on_its_way) stall.kind = Stall::Kind::kWaiting;
    if (groups.size() > 1 && groups[0].size() < groups.back().size()) {
      stall.missing = RanksOf(groups[0]);
    }
  } else {
    stall.text = SayMissing(missing, groups.back()[0].Wait());
    if (!std::all_of(missing.begin(), missing.end(), IsHung)) stall.kind = Stall::Kind::kWaiting;
  }
  size_t described = 0;
  for (const auto& [rank, text] : testimony.unanswered) {
    if (++described <= kMostDescribed) stall.text += fmt::format("; rank {} {}", rank, text);
  }
  // An answer that may only be late is not mentioned yet.
  if (!lacks_answers_ || asked_soon_ >= kMostSoon) stall.text += SayMute(testimony, missing);
  if (!was_said && stall.kind == Stall::Kind::kWaiting && now - stall.since < kSlow) return;
  stall_ = std::move(stall);
}

}  // namespace answers
