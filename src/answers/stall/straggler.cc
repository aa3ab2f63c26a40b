#include "answers/stall/straggler.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

#include "answers/stall/stack.h"

namespace answers {
namespace {

constexpr size_t kMostMeetings = 8000;  // kept at most
constexpr size_t kMostOpen = 2000;
constexpr size_t kLeastSteps = 50;
constexpr std::chrono::nanoseconds kLeastTime = std::chrono::seconds(20);
constexpr int kOthers = 10;  // another rank may be last in one of so many steps
constexpr std::chrono::milliseconds kLeastLate{5};
constexpr int kLeastPart = 10;  // the lateness is at least this part of a step
// one in so many collectives may break the pattern, such as an evaluation
constexpr size_t kOddCollectives = 50;
constexpr size_t kMostPlaces = 20;
constexpr size_t kLeastPlaces = 3;

int64_t Milliseconds(std::chrono::nanoseconds time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
}

int64_t MedianOf(std::vector<int64_t> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

void StragglerWatch::See(const std::map<int, Trace>& traces) {
  std::map<std::string, size_t> members;
  for (const auto& [rank, trace] : traces) {
    for (const auto& [name, group] : trace) {
      ++members[name];
      Add(rank, group, groups_[name]);
    }
  }
  for (auto& [name, group] : groups_) {
    group.members = std::max(group.members, members[name]);
    Close(group);
  }
}

void StragglerWatch::Add(int rank, const GroupTrace& trace, Group& group) {
  for (const auto& [number, call] : trace.collectives) {
    if (number <= group.done || call.created_ns <= 0) continue;
    group.open[number][rank] = call.created_ns;
    group.kinds.try_emplace(number, std::hash<std::string>()(call.name + call.sizes + call.dtypes));
  }
}

// Closes the collectives that all ranks have entered, and skips those that a recorder has lost.
void StragglerWatch::Close(Group& group) {
  if (group.members < 2) return;
  for (auto open = group.open.begin(); open != group.open.end();) {
    const auto& [number, came] = *open;
    if (came.size() < group.members) {
      ++open;
      continue;
    }
    const auto by_time = [](const auto& a, const auto& b) { return a.second < b.second; };
    const auto [first, last] = std::minmax_element(came.begin(), came.end(), by_time);
    group.done = number;
    group.meetings.push_back(
        {number, group.kinds[number], first->second, last->first, last->second - first->second});
    group.kinds.erase(group.kinds.begin(), group.kinds.upper_bound(number));
    open = group.open.erase(group.open.begin(), std::next(open));
  }
  while (group.meetings.size() > kMostMeetings) group.meetings.pop_front();
  while (group.open.size() > kMostOpen) {
    group.kinds.erase(group.open.begin()->first);
    group.open.erase(group.open.begin());
  }
}

// Returns the number of collectives after which their kinds repeat, which is a step; 0 if they do
// not repeat.
size_t StragglerWatch::CycleOf(const std::deque<Meeting>& all) {
  for (size_t cycle = 1; kLeastSteps * cycle <= all.size(); ++cycle) {
    size_t odd = 0, compared = 0, before = 0;
    for (const Meeting& meeting : all) {
      const int64_t wanted = meeting.number - static_cast<int64_t>(cycle);
      while (all[before].number < wanted) ++before;
      if (all[before].number != wanted) continue;
      ++compared;
      odd += all[before].kind != meeting.kind ? 1 : 0;
    }
    if (4 * compared > all.size() && odd * kOddCollectives <= compared) return cycle;
  }
  return 0;
}

// Checks cheaply whether the rank caused most of the lateness at the last collectives.
bool StragglerWatch::IsSuspect(const std::deque<Meeting>& all, int rank) {
  int64_t own = 0, sum = 0;
  for (auto meeting = all.end() - kLeastSteps; meeting != all.end(); ++meeting) {
    sum += meeting->late_ns;
    own += meeting->last == rank ? meeting->late_ns : 0;
  }
  return 3 * own > 2 * sum;
}

std::optional<Straggler> StragglerWatch::StragglerOf(const std::deque<Meeting>& all) {
  if (all.size() < kLeastSteps) return std::nullopt;
  const auto latest =
      std::max_element(all.end() - kLeastSteps, all.end(),
                       [](const Meeting& a, const Meeting& b) { return a.late_ns < b.late_ns; });
  Straggler found;
  found.rank = latest->last;
  if (!IsSuspect(all, found.rank)) return std::nullopt;
  const auto cycle = static_cast<int64_t>(CycleOf(all));
  if (cycle == 0) return std::nullopt;
  // In each step, the collective at which the others waited longest shows which rank made them
  // wait, because after it all continue together. The loop begins at the last step.
  std::vector<int64_t> late, steps;
  int64_t newest_ns = 0, next_ns = 0, next_number = 0;
  for (auto meeting = all.rbegin(); meeting != all.rend();) {
    const Meeting* worst = &*meeting;
    const Meeting* first = worst;
    for (const int64_t step = meeting->number / cycle;
         meeting != all.rend() && meeting->number / cycle == step; ++meeting) {
      if (meeting->late_ns > worst->late_ns) worst = &*meeting;
      first = &*meeting;
    }
    if (found.of == 0) newest_ns = first->first_ns;
    if (next_number == first->number + cycle) steps.push_back(next_ns - first->first_ns);
    next_ns = first->first_ns;
    next_number = first->number;
    ++found.of;
    if (worst->last == found.rank) late.push_back(worst->late_ns);
    if (found.of >= static_cast<int>(kLeastSteps) &&
        newest_ns - first->first_ns >= kLeastTime.count()) {
      break;
    }
  }
  found.last = static_cast<int>(late.size());
  if (found.of < static_cast<int>(kLeastSteps) || newest_ns - next_ns < kLeastTime.count() ||
      kOthers * (found.of - found.last) > found.of || steps.empty()) {
    return std::nullopt;
  }
  found.late = std::chrono::nanoseconds(MedianOf(std::move(late)));
  found.step = std::chrono::nanoseconds(MedianOf(std::move(steps)));
  if (found.late < kLeastLate || kLeastPart * found.late < found.step) return std::nullopt;
  return found;
}

std::optional<Straggler> StragglerWatch::straggler() const {
  std::optional<Straggler> worst;
  for (const auto& [name, group] : groups_) {
    auto found = StragglerOf(group.meetings);
    if (found && (!worst || found->late > worst->late)) worst = found;
  }
  return worst;
}

std::string Say(const Straggler& straggler) {
  return fmt::format(
      "rank {} is late at collectives: the last in {} of {} steps, by {} ms of {} ms each",
      straggler.rank, straggler.last, straggler.of, Milliseconds(straggler.late),
      Milliseconds(straggler.step));
}

void Places::See(const std::string& dump) {
  const auto stacks = ReadStacks(dump);
  if (stacks.empty()) return;
  const Doing doing = WhatItDoes(stacks.front().frames);
  if (doing.kind == Doing::Kind::kWaiting || doing.kind == Doing::Kind::kSilent) return;
  seen_.push_back(doing.inner.empty() ? doing.where
                                      : fmt::format("{}, in {}", doing.where, doing.inner));
  if (seen_.size() > kMostPlaces) seen_.pop_front();
}

std::string Places::Say() const {
  if (seen_.size() < kLeastPlaces) return "";
  std::map<std::string_view, size_t> counts;
  for (const std::string& place : seen_) ++counts[place];
  const auto most =
      std::max_element(counts.begin(), counts.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  if (2 * most->second < seen_.size()) return "";
  return fmt::format("mostly at {}", most->first);
}

std::string LastCollectiveOf(const Trace& trace) {
  const GroupTrace* latest = nullptr;
  const auto entered_at = [](const GroupTrace& group) {
    return group.collectives.empty() ? int64_t{0} : group.collectives.rbegin()->second.created_ns;
  };
  for (const auto& [name, group] : trace) {
    if (group.entered == 0) continue;
    if (latest == nullptr || entered_at(group) > entered_at(*latest)) latest = &group;
  }
  if (latest == nullptr) return "";
  const auto call = latest->collectives.find(latest->entered);
  const std::string name = call == latest->collectives.end()
                               ? fmt::format("collective #{}", latest->entered)
                               : NameOf(call->second, latest->entered);
  if (latest->completed >= latest->entered) return fmt::format("had finished {}", name);
  return fmt::format("had entered {} and finished #{}", name, latest->completed);
}

}  // namespace answers
