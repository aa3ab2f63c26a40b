#include "answers/log/pods/file_rank.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>

#include "answers/rank_number.h"
#include "base/strings.h"

namespace answers {
namespace {

constexpr std::string_view kLauncherJob = "-launcher-0-";

std::optional<int> NumberAt(std::string_view text, size_t at) {
  const size_t end = std::min(text.find_first_not_of(kDigits, at), text.size());
  return RankNumber(text.substr(at, end - at));
}

// Whether these words before "rank" make it another number: "node0_local_", "tp-".
bool IsOfNodeOrGroup(std::string_view before) {
  static constexpr auto kWords = std::to_array<std::string_view>({"node", "local"});
  static constexpr auto kGroups = std::to_array<std::string_view>(
      {"dp", "tp", "pp", "cp", "ep", "sp", "mp", "data", "tensor", "pipeline", "model", "expert",
       "context", "group", "replica", "parallel"});
  before = before.substr(0, before.find_last_not_of("-_.") + 1);
  const std::string_view word = before.substr(before.find_last_of("-_.") + 1);  // 0 without one
  return std::any_of(kWords.begin(), kWords.end(),
                     [before](std::string_view end) { return before.ends_with(end); }) ||
         std::find(kGroups.begin(), kGroups.end(), word) != kGroups.end();
}

// The number behind the last "rank" of this name that is the job's; nullopt also where there are
// others only, which `has_others` then tells.
std::optional<int> RankInName(std::string_view lower, bool& has_others) {
  constexpr std::string_view kRank = "rank";
  for (size_t end = lower.size();;) {
    const size_t rank = lower.substr(0, end).rfind(kRank);
    if (rank == lower.npos) return std::nullopt;
    const size_t digit = lower.substr(0, end).find_first_of(kDigits, rank);
    if (digit != lower.npos) {
      if (!IsOfNodeOrGroup(lower.substr(0, rank))) return NumberAt(lower, digit);
      has_others = true;
    }
    end = rank;
  }
}

std::optional<int> NamedRank(std::string_view path) {
  const std::vector<std::string> parts = base::Split(path, '/');
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
    bool has_others = false;
    const auto rank = RankInName(base::ToLower(*part), has_others);
    if (rank || has_others) return rank;
  }
  return std::nullopt;
}

// A folder whose name is a number, and the path before it. torchrun's are below the folder of an
// attempt.
struct NumberedFolder {
  std::string before;
  int number = 0;
  bool is_torchruns = false;
};

std::optional<NumberedFolder> ReadNumberedFolder(std::string_view path) {
  const std::vector<std::string> parts = base::Split(path, '/');
  std::optional<NumberedFolder> found;
  std::string before;
  for (size_t i = 0; i + 1 < parts.size(); ++i) {
    const auto number = RankNumber(parts[i]);
    if (number && parts[i].find_first_not_of(kDigits) == std::string::npos) {
      found = NumberedFolder{before, *number, i > 0 && parts[i - 1].starts_with("attempt_")};
    }
    before += parts[i] + '/';
  }
  return found;
}

// Of /var/log/pods, "NAMESPACE_POD_UID/CONTAINER/0.log": the pod; "" of another path.
std::string_view PodOfKubelets(std::string_view path) {
  const size_t file = path.rfind('/');
  const size_t container = file == path.npos ? file : path.rfind('/', file - 1);
  if (container == path.npos || container == 0) return "";
  const std::string_view restarts = path.substr(file + 1);
  if (restarts.empty() || restarts.find_first_not_of(kDigits) != restarts.find('.')) return "";
  std::string_view folder = path.substr(0, container);
  folder = folder.substr(folder.rfind('/') + 1);
  const size_t begin = folder.find('_');
  const size_t end = folder.rfind('_');
  return begin == end ? "" : folder.substr(begin + 1, end - begin - 1);
}

// Of k9s' "NAMESPACE-POD-1718806000118201000.log", without the time.
std::string_view WithoutTime(std::string_view stem) {
  constexpr size_t kSeconds = 10, kNanoseconds = 19;
  const size_t dash = stem.rfind('-');
  const std::string_view time = stem.substr(dash + 1);  // 0 without one
  const bool is_time = (time.size() == kSeconds || time.size() == kNanoseconds) &&
                       time.find_first_not_of(kDigits) == time.npos;
  return is_time && dash != stem.npos ? stem.substr(0, dash) : stem;
}

// Where the number of Kubeflow's pod in this name ends: "sam-worker-1", "ml_sam-worker-1_pytorch".
// npos without one.
size_t EndOfPod(std::string_view name) {
  for (const std::string_view role : {"-master-", "-worker-"}) {
    const size_t at = name.rfind(role);
    if (at == name.npos || at == 0) continue;
    const size_t digit = at + role.size();
    const size_t end = std::min(name.find_first_not_of(kDigits, digit), name.size());
    const bool is_container = end + 1 < name.size() && (name[end] == '_' || name[end] == '-') &&
                              !base::IsDigit(name[end + 1]);
    if (end > digit && (end == name.size() || is_container)) return end;
  }
  return name.npos;
}

// The pod of "sam-worker-1/pytorch.log" and "sam-worker-1_pytorch.log".
std::string_view StemOf(std::string_view path) {
  if (const std::string_view pod = PodOfKubelets(path); !pod.empty()) return pod;
  const size_t file = path.rfind('/') + 1;  // 0 if there is none
  const std::string_view name = path.substr(file);
  const std::string_view stem = WithoutTime(name.substr(0, name.find('.')));
  if (const size_t end = EndOfPod(stem); end != stem.npos) return stem.substr(0, end);
  if (file == 0) return stem;
  std::string_view folder = path.substr(0, file - 1);
  folder = folder.substr(folder.rfind('/') + 1);
  return EndOfPod(folder) == folder.size() ? folder : stem;
}

// Whether these letters directly before a number make it a host's: "n3", "cn12", "nid001234".
bool IsOfHost(std::string_view before) {
  static constexpr auto kHosts =
      std::to_array<std::string_view>({"n", "cn", "gn", "nid", "dgx", "compute", "vm"});
  const size_t begin =
      before.find_last_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
  const std::string word = base::ToLower(before.substr(begin == before.npos ? 0 : begin + 1));
  return std::find(kHosts.begin(), kHosts.end(), word) != kHosts.end();
}

// A path, divided at its last number that may be a rank.
struct Numbered {
  std::string before, behind;
  int number = 0;
  bool may_be_hosts = false;  // unless they count from 0
};

// Where the random part of the name of a Job's pod begins: "train-1-x7f2k.log". npos of others.
size_t BeginOfSuffix(std::string_view path) {
  constexpr size_t kSuffix = 6;
  const size_t name = path.rfind('/') + 1;
  const size_t end = std::min(path.find('.', name), path.size());
  if (end < name + kSuffix + 2) return path.npos;
  const size_t begin = end - kSuffix;
  const size_t sign = path.substr(name, begin - name).find_last_not_of(kDigits);
  const bool is_of_job =
      path[begin] == '-' && sign != path.npos && path[name + sign] == '-' &&
      name + sign + 1 < begin &&
      path.substr(begin + 1, kSuffix - 1)
              .find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789") == path.npos;
  return is_of_job ? begin : path.npos;
}

std::optional<Numbered> ReadNumbered(std::string_view path) {
  static constexpr auto kOthers = std::to_array<std::string_view>(
      {"node", "node_rank", "node-rank", "noderank", "host", "gpu", "attempt", "epoch", "step",
       "run", "part", "agent", "machine"});
  const size_t name = path.rfind('/') + 1;
  const size_t suffix = BeginOfSuffix(path);
  const size_t last = path.substr(0, suffix).find_last_of(kDigits);
  if (last == std::string_view::npos || last < name) return std::nullopt;
  size_t begin = last;
  while (begin > name && base::IsDigit(path[begin - 1])) --begin;
  constexpr int kMost = 4096;  // a larger number belongs to a job
  const auto number = NumberAt(path, begin);
  if (!number || *number >= kMost) return std::nullopt;
  const size_t word_end = path.substr(0, begin).find_last_not_of("-_. ") + 1;
  const std::string word = base::ToLower(path.substr(name, word_end > name ? word_end - name : 0));
  if (std::any_of(kOthers.begin(), kOthers.end(),
                  [&word](std::string_view other) { return word.ends_with(other); })) {
    return std::nullopt;
  }
  const std::string_view behind = suffix == path.npos
                                      ? path.substr(last + 1)
                                      : path.substr(std::min(path.find('.', suffix), path.size()));
  return Numbered{std::string(path.substr(0, begin)), std::string(behind), *number,
                  IsOfHost(path.substr(name, begin - name))};
}

// Leaves of "gpu-b-" and "n12_" what hosts of one kind have in common.
std::string KindOfHost(std::string_view before) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  std::string kind;
  for (size_t i = 0; i < before.size(); ++i) {
    const bool is_alone = is_letter(before[i]) && (i == 0 || !is_letter(before[i - 1])) &&
                          (i + 1 == before.size() || !is_letter(before[i + 1]));
    const char kept = is_alone || base::IsDigit(before[i]) ? '0' : before[i];
    if (kept != '0' || !kind.ends_with('0')) kind += kept;
  }
  return kind;
}

// The numbers of similar names, by what stands before and behind them.
using Alike = std::map<std::pair<std::string, std::string>, std::set<int>>;

// Those of the names whose numbers another host has, too: they are local ranks.
std::set<Alike::key_type> LocalOnes(const Alike& alike) {
  std::map<Alike::key_type, std::map<int, int>> hosts;  // that have the number
  for (const auto& [place, numbers] : alike) {
    std::map<int, int>& counts = hosts[{KindOfHost(place.first), place.second}];
    for (const int number : numbers) ++counts[number];
  }
  std::set<Alike::key_type> local;
  for (const auto& [place, numbers] : alike) {
    const std::map<int, int>& counts = hosts[{KindOfHost(place.first), place.second}];
    if (std::any_of(numbers.begin(), numbers.end(),
                    [&counts](int number) { return counts.at(number) > 1; })) {
      local.insert(place);
    }
  }
  return local;
}

}  // namespace

// JobSet names its Jobs JOBSET-REPLICATEDJOB-INDEX, and Trainer's runtimes have one Job, "node".
std::optional<int> RankOfNode(std::string_view pod) {
  constexpr std::string_view kJob = "-node-0-";
  constexpr size_t kSuffix = 6;  // "-x7f2k"
  const size_t at = pod.rfind(kJob);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view index = pod.substr(at + kJob.size());
  const size_t dash = index.find('-');
  if (dash != std::string_view::npos && index.size() - dash != kSuffix) return std::nullopt;
  return RankOfDigits(index.substr(0, dash));
}

bool IsLaunchersPod(std::string_view pod) { return pod.find(kLauncherJob) != pod.npos; }

bool AreOfTwoHosts(std::string_view one, std::string_view other) {
  return one != other && KindOfHost(one) == KindOfHost(other);
}

std::optional<int> RankOfName(std::string_view name) {
  constexpr std::string_view kRank = "rank";
  const std::string lower = base::ToLower(name);
  const size_t at = lower.rfind(kRank);
  if (at == lower.npos || (at > 0 && lower[at - 1] >= 'a' && lower[at - 1] <= 'z')) {
    return std::nullopt;
  }
  std::string_view number = std::string_view(lower).substr(at + kRank.size());
  if (number.starts_with('-') || number.starts_with('_')) number.remove_prefix(1);
  return IsOfNodeOrGroup(lower.substr(0, at)) ? std::nullopt : RankOfDigits(number);
}

std::optional<int> RankOfPod(std::string_view pod, bool has_master) {
  if (pod.ends_with("-master-0")) return 0;
  if (pod == "workerpool0-0") return 0;
  constexpr std::string_view kVertex = "workerpool1-";  // its RANK is one more than the number
  if (pod.starts_with(kVertex)) {
    const auto replica = RankOfDigits(pod.substr(kVertex.size()));
    return replica ? std::optional(*replica + 1) : std::nullopt;
  }
  constexpr std::string_view kSageMakers = "algo-";  // the first host is algo-1
  if (const size_t host = pod.rfind(kSageMakers);
      host != pod.npos && (host == 0 || std::string_view("/.").find(pod[host - 1]) != pod.npos)) {
    const std::string_view number = pod.substr(host + kSageMakers.size());
    const auto count = RankOfDigits(number.substr(0, number.find('-')));
    return count > 0 ? std::optional(*count - 1) : std::nullopt;
  }
  constexpr std::string_view kWorker = "-worker-";
  const size_t at = pod.rfind(kWorker);
  if (at == std::string_view::npos) return std::nullopt;
  const auto number = RankNumber(pod.substr(at + kWorker.size()));
  return number ? std::optional(*number + (has_master ? 1 : 0)) : std::nullopt;
}

std::vector<std::optional<int>> RanksOfFiles(const std::vector<std::string_view>& paths,
                                             bool is_master_known) {
  const bool has_master =
      is_master_known || std::any_of(paths.begin(), paths.end(), [](std::string_view path) {
        return StemOf(path).ends_with("-master-0");
      });
  const bool has_launcher = std::any_of(paths.begin(), paths.end(),
                                        [](std::string_view path) { return IsLaunchersPod(path); });
  std::vector<std::optional<int>> ranks;
  Alike alike;
  std::map<std::string, std::set<int>> siblings;
  for (const std::string_view path : paths) {
    auto rank = NamedRank(path);
    const auto folder = ReadNumberedFolder(path);
    if (folder) siblings[folder->before].insert(folder->number);
    if (!rank && folder && folder->is_torchruns) rank = folder->number;
    // Pods without a file name are from a job, which knows their ranks better.
    const bool is_file = path.find('.') != std::string_view::npos;
    if (!rank && is_file) rank = RankOfPod(StemOf(path), has_master);
    const auto node = is_file ? RankOfNode(StemOf(path)) : std::nullopt;
    if (!rank && !has_launcher) rank = node;
    const auto numbered = rank || node ? std::nullopt : ReadNumbered(path);
    if (numbered) alike[{numbered->before, numbered->behind}].insert(numbered->number);
    ranks.push_back(rank);
  }
  const std::set<Alike::key_type> local = LocalOnes(alike);
  for (size_t i = 0; i < paths.size(); ++i) {
    const auto folder = ranks[i] ? std::nullopt : ReadNumberedFolder(paths[i]);
    // Folders of years or jobs are not ranks: the numbers of ranks begin at 0.
    const auto size = folder ? siblings[folder->before].size() : 0;
    if (size > 1 && *siblings[folder->before].rbegin() + 1 == static_cast<int>(size)) {
      ranks[i] = folder->number;
    }
    const auto numbered = ranks[i] ? std::nullopt : ReadNumbered(paths[i]);
    if (!numbered) continue;
    const std::set<int>& numbers = alike[{numbered->before, numbered->behind}];
    const bool are_hosts = numbered->may_be_hosts && !numbers.contains(0);
    const bool is_local = local.contains({numbered->before, numbered->behind});
    if (numbers.size() > 1 && !are_hosts && !is_local) ranks[i] = numbered->number;
  }
  return ranks;
}

}  // namespace answers
