#include "local/node/shim/witnesses.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "answers/exit_finding.h"
#include "answers/files/read_log.h"
#include "answers/witness_line.h"
#include "local/node/pod/cgroup.h"
#include "local/node/shim/memory_use.h"
#include "witness/kernel_log.h"
#include "witness/stacks.h"

namespace local::node {
namespace {

bool HasGpus(const ContainerSpec& container) {
  constexpr std::array<std::string_view, 3> kLists = {
      "CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES"};
  constexpr std::array<std::string_view, 4> kNone = {"", "-1", "none", "void"};
  return std::any_of(container.env.begin(), container.env.end(), [&](const auto& variable) {
    return std::find(kLists.begin(), kLists.end(), variable.first) != kLists.end() &&
           std::find(kNone.begin(), kNone.end(), variable.second) == kNone.end();
  });
}

std::vector<std::string> FoldersOf(const PodSpec& pod, const ContainerSpec& container) {
  std::vector<std::string> folders{"/dev/shm"};
  for (const Mount& mount : pod.mounts) {
    if (!mount.read_only) folders.push_back(mount.target);
  }
  folders.push_back(container.cwd.empty() ? "/" : container.cwd);
  folders.emplace_back("/tmp");
  return folders;
}

bool CouldKernelDecide(int exit_code, std::string_view words) {
  constexpr size_t kWords = 200;
  answers::Rank rank;
  rank.exit_code = exit_code;
  rank.lines = answers::ReadLines(words, kWords);
  return answers::WouldWitnessesDecide(rank);
}

void AddCrashes(const ContainerSpec& container, base::Time began, std::vector<std::string>& lines) {
  constexpr size_t kMost = 8;
  const auto folder =
      std::find_if(container.env.rbegin(), container.env.rend(),
                   [](const auto& variable) { return variable.first == witness::kStacksVariable; });
  if (folder == container.env.rend()) return;
  std::vector<witness::RankCrash> crashes = witness::CrashesIn(folder->second, began);
  if (crashes.size() > kMost) crashes.resize(kMost);
  for (const witness::RankCrash& crash : crashes) {
    const std::string who = crash.rank < 0 ? "" : fmt::format("rank {}: ", crash.rank);
    lines.push_back(answers::FormatWitness(
        {crash.time, std::string(answers::kPythonsStack), who + crash.text}));
  }
}

}  // namespace

Witnesses::Witnesses(const PodSpec& pod, const ContainerSpec& container)
    : pod_(pod),
      container_(container),
      folders_(FoldersOf(pod, container)),
      machine_(pod.witness_root),
      oom_kills_before_(OomKillsOf(container.cgroup)) {}

void Witnesses::Look(pid_t pid, base::Clock& clock) { near_limits_.Look(pid, folders_, clock); }

std::vector<std::string> Witnesses::Lines(pid_t pid, int exit_code, std::string_view words,
                                          base::Time began, base::Time now) const {
  std::vector<std::string> lines;
  const std::vector<answers::Fact> said = machine_.KernelSays(HasGpus(container_), now);
  std::vector<std::string_view> texts;
  for (const answers::Fact& fact : said) texts.emplace_back(fact.text);
  const std::vector<bool> about = witness::AreAbout({pod_.uid, pid, words}, texts);
  for (size_t i = 0; i < said.size(); ++i) {
    if (about[i]) lines.push_back(answers::FormatWitness(said[i]));
  }
  if (const uint64_t kills = OomKillsOf(container_.cgroup); kills > oom_kills_before_) {
    lines.push_back(answers::FormatWitness(
        {now, std::string(answers::kCgroup),
         fmt::format("oom_kill {} in memory.events: at its limit of {}, the kernel killed",
                     kills - oom_kills_before_,
                     FormatMemory(container_.memory_limit.value_or(0)))}));
  }
  if (const std::string why = machine_.WhyKernelIsSilent();
      !why.empty() && lines.empty() && CouldKernelDecide(exit_code, words)) {
    lines.push_back(answers::FormatWitness(
        {now, std::string(answers::kKernelLog), std::string(answers::kCannotBeRead) + why}));
  }
  AddCrashes(container_, began, lines);
  const std::vector<answers::Fact> full = witness::FullFileSystems(folders_, now);
  for (const answers::Fact& fact : near_limits_.facts()) {
    // A file system that is still full is reported anyway.
    if (fact.source != answers::kFileSystem || full.empty()) {
      lines.push_back(answers::FormatWitness(fact));
    }
  }
  for (const answers::Fact& fact : full) lines.push_back(answers::FormatWitness(fact));
  return lines;
}

}  // namespace local::node
