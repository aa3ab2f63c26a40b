#include "answers/log/read_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "answers/log/attempt.h"
#include "answers/log/cluster_words.h"
#include "answers/log/described_pod.h"
#include "answers/log/error_file.h"
#include "answers/log/failure_report.h"
#include "answers/log/file_rank.h"
#include "answers/log/json_record.h"
#include "answers/log/launcher_words.h"
#include "answers/log/log_line.h"
#include "answers/log/logger_prefix.h"
#include "answers/log/node_task.h"
#include "answers/log/own_rank.h"
#include "answers/log/own_stamp.h"
#include "answers/log/passed_tests.h"
#include "answers/log/pod_ranks.h"
#include "answers/log/rank_field.h"
#include "answers/log/ray_words.h"
#include "answers/log/sweep_log.h"
#include "answers/peers/gathered_error.h"
#include "answers/peers/named_rank.h"
#include "answers/peers/watchdog.h"
#include "answers/witness_line.h"
#include "base/strings.h"

namespace answers {
namespace {

constexpr size_t kLongestLine = 4096;
constexpr size_t kMostLines = 20'000;

struct Split {
  Line line;
  std::optional<OwnStamp> own_time;
  std::optional<int> rank, local_rank;
  std::string pod;
  bool is_rank_field = false;

  bool HasSource() const { return rank || local_rank || !pod.empty(); }
};

struct File {
  const LogFile* log = nullptr;
  std::optional<int> rank;  // according to its name
  std::vector<Split> lines;
  // the first failed trial, to which the lines of a sweep's log belong
  std::optional<FailedTrial> trial;
  std::vector<std::string_view> texts;  // of the lines
  LauncherWords words;
  std::vector<DescribedPod> pods;  // that kubectl describes in the lines
};

// Which of the programs' own timestamps give the lines their times, if nothing that carried the
// lines added times.
enum class OwnClock { kNone, kDates, kDaysOfAnyYear };

// Returns the last `limit` lines, the oldest first.
std::vector<std::string_view> LastLines(std::string_view text, size_t limit) {
  std::vector<std::string_view> lines;
  if (text.ends_with('\n')) text.remove_suffix(1);
  while (lines.size() < limit) {
    const size_t end = text.rfind('\n');
    lines.push_back(end == std::string_view::npos ? text : text.substr(end + 1));
    if (end == std::string_view::npos) break;
    text = text.substr(0, end);
  }
  std::reverse(lines.begin(), lines.end());
  return lines;
}

// Removes the mark before each line of a log that somebody has quoted or made a comment.
std::vector<std::string_view> WithoutQuoteMarks(std::vector<std::string_view> lines) {
  constexpr size_t kFewest = 3;
  for (const std::string_view mark : {"# ", "> ", "// "}) {
    const bool are_marked = std::all_of(lines.begin(), lines.end(), [mark](std::string_view line) {
      return line.empty() || line.starts_with(mark) || line == base::Trim(mark);
    });
    if (!are_marked || lines.size() < kFewest) continue;
    for (std::string_view& line : lines) line.remove_prefix(std::min(mark.size(), line.size()));
  }
  return lines;
}

constexpr std::string_view kStepDaemon = "slurmstepd-";

// Removes the host from the name of newer Slurm step daemons: "slurmstepd-gpu07: error: ".
std::string WithoutStepHosts(std::string_view text) {
  std::string plain;
  for (size_t at; (at = text.find(kStepDaemon)) != std::string_view::npos;) {
    const size_t end = std::min(text.find_first_of(" \n", at), text.size());
    const bool is_name = text.substr(0, end).ends_with(':');
    plain.append(text.substr(0, is_name ? at + kStepDaemon.size() - 1 : end));
    if (is_name) plain.push_back(':');
    text.remove_prefix(end);
  }
  return plain.append(text);
}

// If torch's error handler has logged the content of an error file, this replaces those lines by
// the traceback in it or, if the content is cut, by its message.
void UnfoldErrorReports(std::vector<Split>& lines) {
  constexpr size_t kMostOfReport = 40;
  constexpr std::string_view kMessage = "\"message\": \"";
  const auto begins = [](const Split& split) {
    return split.line.text.ends_with("error_handler: {") ||
           split.line.text.ends_with("error_handler:{");
  };
  if (std::none_of(lines.begin(), lines.end(), begins)) return;
  std::vector<Split> unfolded;
  for (size_t i = 0; i < lines.size(); ++i) {
    unfolded.push_back(lines[i]);
    if (!begins(lines[i])) continue;
    std::string json = "{";
    size_t end = i + 1;
    const size_t limit = std::min(lines.size(), i + kMostOfReport);
    for (; end < limit && lines[end].line.text != "}"; ++end) json += lines[end].line.text;
    const auto report = ParseErrorFile(json + "}");
    const auto add = [&](std::string text) {
      unfolded.push_back(lines[i]);
      unfolded.back().line.text = std::move(text);
    };
    if (end < limit && report) {
      for (Line& line : LinesOf(*report)) add(std::move(line.text));
      i = end;
      continue;
    }
    for (size_t cut = i + 1; cut < end; ++cut) {
      const std::string_view text = base::Trim(lines[cut].line.text);
      if (!text.starts_with(kMessage)) continue;
      add(std::string(text.substr(kMessage.size(), text.rfind('"') - kMessage.size())));
      i = cut;
      break;
    }
  }
  for (size_t i = 0; i < unfolded.size(); ++i) unfolded[i].line.order = i;
  lines = std::move(unfolded);
}

// In a sweep's log, keeps the lines of one trial: of `wanted` or, if that is "", of the first
// failed one, which `trial` then describes. `limit` counts only lines of the `wanted` trial,
// because many lines of others may follow them.
std::vector<Split> SplitLines(std::string_view text, size_t limit, const std::string& wanted,
                              std::optional<FailedTrial>& trial) {
  const bool has_escapes = text.find("\x1b[") != std::string_view::npos ||
                           text.find("[0m") != std::string_view::npos ||
                           text.find("[39m") != std::string_view::npos;
  const std::string array = LinesOfJsonArray(text);
  if (!array.empty()) text = array;
  std::string plain = has_escapes ? WithoutEscapes(text) : "";
  if (text.find(kStepDaemon) != std::string_view::npos) {
    plain = WithoutStepHosts(has_escapes ? plain : text);
  }
  const size_t most = wanted.empty() ? limit : std::string_view::npos;
  std::vector<std::string_view> texts =
      WithoutQuoteMarks(LastLines(plain.empty() ? text : plain, most));
  const std::string unfolded = WithoutJsonRecords(texts);
  if (!unfolded.empty()) texts = LastLines(unfolded, most);
  std::vector<LogLine> lines = ReadLogLines(std::move(texts));
  if (wanted.empty()) {
    trial = KeepFailedTrial(lines);
  } else {
    KeepTrial(lines, wanted);
    if (lines.size() > limit)
      lines.erase(lines.begin(), lines.end() - static_cast<ptrdiff_t>(limit));
  }
  TakeForeignPrefixes(lines);
  TakeLoggerPrefixes(lines);
  TakeNodeTasks(lines);
  TakeRankFields(lines);
  for (LogLine& line : lines) {
    // The step's daemon speaks about all tasks, whichever of them it labels.
    if (line.text.starts_with("slurmstepd: error: *** ")) line.rank.reset();
  }
  std::vector<Split> split;
  split.reserve(lines.size());
  for (LogLine& line : lines) {
    if (!unfolded.empty() && !line.time && !split.empty()) line.time = split.back().line.time;
    split.push_back({{line.time, std::string(line.text.substr(0, kLongestLine)), split.size()},
                     line.own_time,
                     line.rank,
                     line.local_rank,
                     line.pod,
                     line.is_rank_field});
  }
  UnfoldErrorReports(split);
  return split;
}

// After this line, PyTorch's agent, or Ray Train's controller, starts all ranks again.
bool IsRestart(std::string_view line) {
  return IsRestartOfRay(line) ||
         line.find("; will restart worker group") != std::string_view::npos ||
         line.find("] Restarting worker group") != std::string_view::npos;
}

bool HasRayFinished(const File& file) {
  std::vector<std::string_view> sources;
  for (const Split& split : file.lines) sources.push_back(split.pod);
  return HasFinishedByRay(file.texts, sources);
}

// Whether the agent says that a later attempt of its workers succeeded, and with it the job.
bool HasRecovered(const File& file) {
  const auto restart = std::find_if(file.lines.rbegin(), file.lines.rend(),
                                    [](const Split& split) { return IsRestart(split.line.text); });
  if (restart == file.lines.rend()) return false;
  const auto has = [&](std::initializer_list<std::string_view> words) {
    return std::any_of(restart.base(), file.lines.end(), [&words](const Split& split) {
      return std::any_of(words.begin(), words.end(), [&split](std::string_view word) {
        return split.line.text.find(word) != std::string::npos;
      });
    });
  };
  return has({"worker group successfully finished"}) &&
         !has({"Root Cause (first observed failure)", "failed (exitcode: ", "srun: error: "});
}

// Whether lines without a prefix may come from the watchdogs of several ranks: in a file of unknown
// origin, or if they name several. A job itself knows which of its pods have only one rank.
bool HasWatchdogs(const File& file) {
  std::set<int> ranks;
  for (const Split& split : file.lines) {
    const auto rank = split.rank ? std::nullopt : RankOfWatchdog(split.line.text);
    if (rank) ranks.insert(*rank);
  }
  return ranks.size() > 1 || (ranks.size() == 1 && file.log->name.find('.') != std::string::npos);
}

bool HasCarriersTimes(const File& file) {
  return std::any_of(file.lines.begin(), file.lines.end(),
                     [](const Split& split) { return split.line.time.has_value(); });
}

// Whether torchrun says that it starts several processes: it warns then of OMP_NUM_THREADS
// (torch/distributed/run.py), and its agent lists their local ranks.
bool HasSeveralOfTorchrun(std::string_view line) {
  constexpr std::string_view kWarning = "Setting OMP_NUM_THREADS environment variable for each ";
  constexpr std::string_view kList = "local_ranks=[";
  if (line.find(kWarning) != line.npos) return line.find("UserWarning") == line.npos;
  const size_t list = line.find(kList);
  return list != line.npos && line.substr(list, line.find(']', list) - list).find(',') != line.npos;
}

// The pods with several processes, whose numbers are no ranks: the process of a pod that has only
// one uses the pod's first device.
std::set<std::string_view> PodsOfSeveral(const File& file) {
  std::set<std::string_view> pods;
  for (const Split& split : file.lines) {
    if (split.pod.empty()) continue;
    const auto nccl = ReadNcclPrefix(split.line.text);
    const bool has_several = (nccl && nccl->device > 0) || HasSeveralOfTorchrun(split.line.text);
    if (has_several) pods.insert(split.pod);
  }
  return pods;
}

// A line without a timestamp gets the time of the line before it.
void TakeOwnTimes(File& file, OwnClock clock) {
  if (clock == OwnClock::kNone || HasCarriersTimes(file)) return;
  const auto time_of = [clock](const Split& split) -> std::optional<base::Time> {
    if (!split.own_time) return std::nullopt;
    if (clock == OwnClock::kDaysOfAnyYear) return WithoutYear(*split.own_time).time;
    return split.own_time->has_year ? std::optional(split.own_time->time) : std::nullopt;
  };
  std::optional<base::Time> last;
  for (size_t i = 0; !last && i < file.lines.size(); ++i) last = time_of(file.lines[i]);
  for (Split& split : file.lines) {
    if (const auto time = time_of(split)) last = time;
    split.line.time = last;
  }
}

// Programs' timestamps are comparable if all files have the same kind. Within one file, the order
// of the lines is better.
OwnClock ClockOf(const std::vector<File>& files) {
  if (files.size() < 2) return OwnClock::kNone;
  bool have_dates = true;
  bool have_days = true;
  for (const File& file : files) {
    if (file.log->text.empty()) continue;
    const auto has = [&file](auto predicate) {
      return std::any_of(file.lines.begin(), file.lines.end(), predicate);
    };
    const bool is_carried = HasCarriersTimes(file);
    have_dates = have_dates && (is_carried || has([](const Split& split) {
                                  return split.own_time && split.own_time->has_year;
                                }));
    have_days = have_days && !is_carried &&
                has([](const Split& split) { return split.own_time.has_value(); });
  }
  if (have_dates) return OwnClock::kDates;
  return have_days ? OwnClock::kDaysOfAnyYear : OwnClock::kNone;
}

// Whether the row is about this node: a table also names a rank that failed first on another node.
bool IsHere(const LauncherRow& row, const LauncherWords& words) {
  return !row.rank || !words.ranks ||
         (*row.rank >= words.ranks->first && *row.rank <= words.ranks->last);
}

// The source of torchrun's table, if each line has one and all tables are from the same one.
std::optional<std::string_view> TablesPod(const std::vector<Split>& lines) {
  std::set<std::string_view> pods;
  for (const Split& split : lines) {
    if (base::Trim(split.line.text).starts_with("Root Cause (first observed failure)")) {
      pods.insert(split.pod);
    }
  }
  return pods.size() == 1 && !pods.begin()->empty() ? std::optional(*pods.begin()) : std::nullopt;
}

// Finds the global rank of a node's local rank, from its lines and from its agent's tables.
class LocalRanks {
 public:
  LocalRanks(const std::vector<Split>& lines, const LauncherWords& words) : node_(words.ranks) {
    std::map<std::string_view, std::vector<std::string_view>> texts;
    for (const Split& split : lines) {
      if (!split.rank && !split.local_rank) texts[split.pod].push_back(split.line.text);
    }
    for (const auto& [pod, of_pod] : texts) {
      for (const auto& [local, rank] : ReadRanksOfLocals(of_pod)) ranks_[{pod, local}] = rank;
    }
    const std::string_view tables = TablesPod(lines).value_or("");
    for (const LauncherRow& row : words.rows) {
      if (!IsHere(row, words)) continue;
      if (row.rank && row.local_rank && !row.is_local) ranks_[{tables, *row.local_rank}] = row.rank;
    }
    for (const Split& split : lines) {
      if (split.rank && split.local_rank) ranks_[{split.pod, *split.local_rank}] = split.rank;
    }
  }

  // Whether the local rank is all that is known.
  bool IsUnknown(const Split& split) const {
    return !split.rank && split.local_rank && !ranks_.contains({split.pod, *split.local_rank}) &&
           !(node_ && split.pod.empty());
  }

  std::optional<int> RankOf(const Split& split) const {
    if (split.rank || !split.local_rank) return split.rank;
    const auto known = ranks_.find({split.pod, *split.local_rank});
    if (known != ranks_.end()) return known->second;
    return node_ && split.pod.empty() ? node_->first + *split.local_rank : split.local_rank;
  }

 private:
  const std::optional<NodeRanks> node_;
  std::map<std::pair<std::string_view, int>, std::optional<int>> ranks_;
};

// Whether the pods of the lines are several nodes, of which one is `pod`.
bool IsOneOfNodes(const File& file, std::string_view pod) {
  return !pod.empty() &&
         std::any_of(file.lines.begin(), file.lines.end(), [pod](const Split& split) {
           return !split.pod.empty() && AreOfTwoHosts(split.pod, pod);
         });
}

// Whether the local ranks are those of several nodes, of which nobody says which ranks they have:
// a number is in the files of two hosts, or the lines around it are of two pods.
bool HasUnknownNodes(const std::vector<File>& files, const std::vector<LocalRanks>& locals) {
  std::map<int, std::set<std::string_view>> names;
  for (size_t i = 0; i < files.size(); ++i) {
    const File& file = files[i];
    for (const Split& split : file.lines) {
      if (!locals[i].IsUnknown(split)) continue;
      const std::string_view name = split.pod.empty() ? file.log->name : split.pod;
      const auto [place, is_new] = names[*split.local_rank].insert(name);
      if (!is_new) continue;
      if (IsOneOfNodes(file, split.pod)) return true;
      for (const std::string_view other : names[*split.local_rank]) {
        if (AreOfTwoHosts(name, other)) return true;
      }
    }
  }
  return false;
}

std::vector<std::string_view> TextsOf(const std::vector<Split>& lines) {
  std::vector<std::string_view> texts;
  texts.reserve(lines.size());
  for (const Split& split : lines) texts.push_back(split.line.text);
  return texts;
}

bool AreTasksNodes(const File& file) {
  return std::any_of(file.lines.begin(), file.lines.end(),
                     [](const Split& split) { return IsNodeTask(split.pod); });
}

// Whether nothing in the file distinguishes several processes.
bool IsOfOneProcess(const File& file) {
  return file.words.rows.empty() &&
         std::none_of(file.lines.begin(), file.lines.end(),
                      [](const Split& split) { return split.HasSource(); });
}

// Whether the tests of all processes in the file have passed: the last line is not only that of one
// of several.
bool HavePassedTests(const File& file) {
  if (!EndsWithPassedTests(file.texts)) return false;
  const auto last = std::find_if(file.lines.rbegin(), file.lines.rend(), [](const Split& split) {
    return !base::Trim(split.line.text).empty();
  });
  return !last->HasSource() ||
         std::all_of(file.lines.begin(), file.lines.end(), [&last](const Split& split) {
           return split.rank == last->rank && split.local_rank == last->local_rank &&
                  split.pod == last->pod;
         });
}

// By the environments that the files of single processes show.
void NameRanksByEnvironment(std::vector<File>& files) {
  std::vector<std::optional<RankOfEnvironment>> own;
  std::set<int> known;
  for (const File& file : files) {
    own.push_back(IsOfOneProcess(file) ? RankInEnvironment(file.texts) : std::nullopt);
    if (own.back()) known.insert(own.back()->rank);
  }
  for (size_t i = 0; i < files.size(); ++i) {
    // The ranks of a node follow one another.
    if (own[i] && (!own[i]->may_have_others || known.contains(own[i]->rank + 1))) {
      files[i].rank = own[i]->rank;
    }
  }
}

// Takes back the ranks that are fields of records where they are other numbers: those of the
// processes on each of several hosts, or of others than the one that the file's name tells.
void DropOtherFields(std::vector<File>& files) {
  std::map<int, std::set<const File*>> files_of_ranks;
  std::set<const File*> others;
  for (const File& file : files) {
    const bool is_named =
        file.rank && base::ToLower(file.log->name).find("rank") != std::string::npos;
    for (const Split& split : file.lines) {
      if (!split.is_rank_field) continue;
      files_of_ranks[*split.rank].insert(&file);
      if (is_named && split.rank != file.rank) others.insert(&file);
    }
  }
  const auto name_of = [](const File* file) {
    std::string name = file->log->name;
    TakeAttempt(name);
    return name;
  };
  for (const auto& [rank, of_rank] : files_of_ranks) {
    const std::string first = name_of(*of_rank.begin());
    for (const File* const file : of_rank) {
      if (AreOfTwoHosts(first, name_of(file))) others.insert({*of_rank.begin(), file});
    }
  }
  for (File& file : files) {
    if (!others.contains(&file)) continue;
    for (Split& split : file.lines) {
      if (split.is_rank_field) split.rank.reset();
    }
  }
}

// Finds the rank whose process the kernel has killed, by the PIDs in the launchers' messages of all
// files.
class KilledRanks {
 public:
  explicit KilledRanks(const std::vector<File>& files) {
    for (const File& file : files) {
      for (const auto& [pid, rank] : file.words.ranks_of_pids) AddRankOfPid(ranks_, pid, rank);
    }
  }

  std::optional<int> RankIn(std::string_view line) const {
    const auto pid = KilledIn(line);
    const auto known = pid ? ranks_.find(*pid) : ranks_.end();
    return known == ranks_.end() ? std::nullopt : known->second;
  }

 private:
  static std::optional<int> KilledIn(std::string_view line) {
    constexpr std::string_view kWords = "Killed process ";
    const size_t at = line.find(kWords);
    if (at == std::string_view::npos) return std::nullopt;
    line = line.substr(at + kWords.size());
    const auto pid = base::ParseInt(line.substr(0, line.find(' ')));
    return pid && *pid > 0 && *pid <= INT32_MAX ? std::optional(static_cast<int>(*pid))
                                                : std::nullopt;
  }

  RanksOfPids ranks_;
};

// The number of a pod that is described without a label for it may be in the name of its log.
void NameDescribedByLogs(std::vector<File>& files) {
  for (File& file : files) {
    for (DescribedPod& pod : file.pods) {
      if (pod.rank || pod.may_have_several) continue;
      const auto log = std::find_if(files.begin(), files.end(), [&](const File& each) {
        std::string_view name = each.log->name;
        name.remove_prefix(name.rfind('/') + 1);  // 0 if there is none
        return &each != &file && each.rank && name == pod.name + ".log";
      });
      if (log != files.end()) pod.rank = log->rank;
    }
  }
}

// Launchers' tables name the error file; otherwise its own name has to do.
std::optional<int> RankOfErrorFile(const File& error, const std::vector<File>& logs) {
  for (const File& log : logs) {
    for (const LauncherRow& row : log.words.rows) {
      if (row.rank && IsSameErrorFile(row.error_file, error.log->name)) return row.rank;
    }
  }
  return error.rank;
}

class Sorter {
 public:
  Sorter(const KubeflowPods& pods, bool has_unknown_nodes, const KilledRanks& killed)
      : pods_(pods), has_unknown_nodes_(has_unknown_nodes), killed_(killed) {}

  void Add(const File& file, const LocalRanks& locals) {
    std::string name = file.log->name;
    int attempt = TakeAttempt(name);
    const bool by_watchdog = !file.rank && HasWatchdogs(file);
    const bool has_prefixes = std::any_of(
        file.lines.begin(), file.lines.end(),
        [](const Split& split) { return split.rank.has_value() || split.local_rank.has_value(); });
    const std::set<std::string_view> shared = PodsOfSeveral(file);
    std::set<size_t> places;  // of those that have its lines
    std::optional<int> section;
    if (file.trial) {
      Rank& rank = RankFor(name, file.rank, "", attempt);
      rank.witnesses.push_back({std::nullopt, "the first trial that failed", file.trial->words});
      rank.exit_code = file.trial->exit_code;
    }
    for (size_t i = 0; i < file.lines.size(); ++i) {
      const Split& split = file.lines[i];
      if (const auto begins = ReadSection(split.line.text)) section = *begins;
      if (IsRestart(split.line.text)) ++attempt;
      std::optional<int> number = locals.RankOf(split);
      std::string source = split.pod;
      if (has_unknown_nodes_ && locals.IsUnknown(split)) {
        number.reset();
        source = fmt::format("{} local rank {}", source.empty() ? name : source, *split.local_rank);
      }
      if (!number && section && *section >= 0) number = section;
      const DescribedPod* const described = DescribedAt(file.pods, i);
      if (!number && described != nullptr) number = described->rank;
      const bool has_several = described != nullptr && described->may_have_several;
      if (!number && !has_several) number = file.rank;
      if (!number && !has_prefixes && !shared.contains(split.pod)) {
        number = pods_.has_launcher ? std::nullopt : RankOfNode(split.pod);
        if (!number) number = RankOfPod(split.pod, pods_.has_master);
      }
      if (!number && by_watchdog) number = RankOfWatchdog(split.line.text);
      if (!number) number = killed_.RankIn(split.line.text);
      Rank& rank = RankFor(name, number, source, attempt);
      places.insert(static_cast<size_t>(&rank - evidence_.ranks.data()));
      if (auto witness = ReadWitness(split.line.text)) {
        rank.witnesses.push_back(std::move(*witness));
        continue;
      }
      rank.has_log = true;
      rank.lines.push_back(split.line);
      rank.lines.back().order += before_;
    }
    const bool has_finished = HasRayFinished(file);
    const bool has_recovered = has_finished || HasRecovered(file) || HavePassedTests(file);
    for (const size_t place : places) {
      Rank& rank = evidence_.ranks[place];
      const bool has_succeeded = has_finished || (has_recovered && rank.name == name);
      if (has_succeeded && !rank.exit_code) rank.exit_code = 0;
    }
    before_ += file.lines.size();
    if (!file.rank && !has_prefixes) NoteDevices(file, name, attempt);
    AddWords(has_recovered ? LauncherWords{} : file.words,
             std::string(TablesPod(file.lines).value_or(name)), attempt);
    for (Event& event : ReadClusterWords(file.texts, file.pods)) {
      evidence_.events.push_back(std::move(event));
    }
    pod_ranks_.Add(file.texts, file.pods);
    for (const Split& split : file.lines) {
      const auto number = locals.RankOf(split);
      const auto missing = MissingAtBarrier(split.line.text, number ? number : file.rank);
      if (missing && !Knows(*missing)) RankFor(name, missing, "", attempt).has_log = false;
    }
  }

  // Must be called after logs are added, which say the same in more words.
  void AddFailureReport(const LogFile& file, const FailureReport& report) {
    const std::string folder = file.name.substr(0, file.name.rfind('/') + 1);  // 0 if there is none
    for (const LauncherRow& row : report.rows) {
      const bool is_root = row.rank == report.rank;
      std::vector<size_t> places = PlacesIn(folder, *row.rank);
      if (places.empty()) {
        const Rank& rank = RankFor(file.name, row.rank, "", report.attempt);
        places.push_back(static_cast<size_t>(&rank - evidence_.ranks.data()));
      }
      const auto& ended = report.ended_ranks;
      for (const size_t place : places) {
        Rank& rank = evidence_.ranks[place];
        rank.exit_code = row.exit_code;
        rank.was_ended_by_us = std::find(ended.begin(), ended.end(), *row.rank) != ended.end();
        rank.host = row.host;
        if (is_root) rank.end_words = row.words;
      }
      if (is_root) AddReported(places, row.crash, report);
    }
    evidence_.first_rank = report.rank;
  }

  // Must be called before logs are added, so that launchers' messages about these ranks find them.
  void AddErrorFile(const File& file, std::optional<int> number) {
    std::string name = file.log->name;
    const int attempt = TakeAttempt(name);
    Rank& rank = RankFor(name, number, "", attempt);
    auto report = ParseErrorFile(file.log->text);
    rank.has_log = report.has_value();
    if (!report) return;
    rank.lines = LinesOf(*report);
    for (Line& line : rank.lines) line.order += before_;
    before_ += rank.lines.size();
    rank.ended = rank.lines.front().time;
    reports_[static_cast<size_t>(&rank - evidence_.ranks.data())] = std::move(*report);
  }

  Evidence Take() {
    JoinReports();
    pod_ranks_.NameRanksOf(evidence_);
    for (Rank& rank : evidence_.ranks) {
      const auto own = rank.rank ? std::nullopt : OwnRankIn(rank.lines);
      if (own && !Knows(*own)) rank.rank = own;
    }
    const bool has_ranks = std::any_of(evidence_.ranks.begin(), evidence_.ranks.end(),
                                       [](const Rank& rank) { return rank.rank.has_value(); });
    for (const auto& [name, device, attempt] : devices_) {
      if (!has_ranks) RankFor(name, device, "", attempt);
    }
    // The others may name a rank that has printed nothing.
    std::set<int> named = NamedAloneByGathered(evidence_);
    if (const auto odd = OddInMismatch(evidence_)) named.insert(*odd);
    for (const int number : named) {
      if (Knows(number)) continue;
      const auto [name, attempt] = std::pair(evidence_.ranks[0].name, evidence_.ranks[0].attempt);
      RankFor(name, number, "", attempt).has_log = false;
    }
    return std::move(evidence_);
  }

 private:
  // Those that have lines of this rank in files of the folder.
  std::vector<size_t> PlacesIn(std::string_view folder, int number) const {
    std::vector<size_t> places;
    for (size_t i = 0; i < evidence_.ranks.size(); ++i) {
      const Rank& rank = evidence_.ranks[i];
      if (rank.rank == number && rank.name.starts_with(folder)) places.push_back(i);
    }
    return places;
  }

  // Adds what the report says about the rank that failed first.
  void AddReported(const std::vector<size_t>& places, const std::string& crash,
                   const FailureReport& report) {
    const bool has_words = std::any_of(places.begin(), places.end(), [this](size_t place) {
      const std::vector<Line>& lines = evidence_.ranks[place].lines;
      return std::any_of(lines.begin(), lines.end(),
                         [](const Line& line) { return !base::Trim(line.text).empty(); });
    });
    for (const size_t place : places) {
      if (crash.empty()) break;
      evidence_.ranks[place].witnesses.push_back({std::nullopt, std::string(kPythonsStack),
                                                  fmt::format("rank {}: {}", report.rank, crash)});
    }
    Rank& rank = evidence_.ranks[places.back()];
    const auto add = [&](std::string text) {
      rank.lines.push_back({std::nullopt, std::move(text), before_++});
    };
    if (!has_words) {
      for (const Line& line : report.last_lines) add(line.text);
    }
    if (!report.why.empty()) add("why       : " + report.why);
  }

  // A rank that has printed its exception gets its time from the error file.
  void JoinReports() {
    std::vector<size_t> joined;
    for (const auto& [place, report] : reports_) {
      const Rank& of = evidence_.ranks[place];
      bool is_found = false;
      for (size_t i = 0; i < evidence_.ranks.size(); ++i) {
        Rank& rank = evidence_.ranks[i];
        if (reports_.contains(i) || !IsOfOneProcess(rank, of) ||
            !ContainsException(rank.lines, report)) {
          continue;
        }
        rank.ended = of.ended;
        if (!rank.exit_code) rank.exit_code = of.exit_code;
        if (rank.host.empty()) rank.host = of.host;
        is_found = true;
      }
      if (is_found) joined.push_back(place);
    }
    for (auto place = joined.rbegin(); place != joined.rend(); ++place) {
      evidence_.ranks.erase(evidence_.ranks.begin() + static_cast<ptrdiff_t>(*place));
    }
  }

  // Compares the files' folders or, if these differ, the ranks, unless the folders of several nodes
  // have the same rank.
  bool IsOfOneProcess(const Rank& rank, const Rank& of) const {
    if (rank.attempt != of.attempt) return false;
    const size_t slash = of.name.rfind('/');
    if (slash != std::string::npos &&
        std::string_view(rank.name).substr(0, rank.name.rfind('/')) == of.name.substr(0, slash)) {
      return true;
    }
    const auto has_number = [&](const auto& known) {
      const Rank& other = evidence_.ranks[known.first];
      return other.rank == of.rank && other.attempt == of.attempt;
    };
    return of.rank && rank.rank == of.rank &&
           std::count_if(reports_.begin(), reports_.end(), has_number) == 1;
  }

  Rank& RankFor(const std::string& file, std::optional<int> number, std::string_view pod,
                int attempt) {
    const std::string name = pod.empty() ? file : std::string(pod);
    const auto [found, is_new] =
        places_.try_emplace({name, number.value_or(-1), attempt}, evidence_.ranks.size());
    if (is_new) {
      Rank& rank = evidence_.ranks.emplace_back();
      rank.rank = number;
      rank.name = name;
      rank.attempt = attempt;
    }
    return evidence_.ranks[found->second];
  }

  void AddWords(const LauncherWords& words, const std::string& name, int attempt) {
    for (const LauncherRow& row : words.rows) {
      if (row.is_local && has_unknown_nodes_) continue;
      if (IsHere(row, words)) Note(row, name, attempt);
    }
    const bool is_unknown = words.is_first_local && has_unknown_nodes_;
    const bool is_later = first_time_ && words.first_time && *first_time_ <= *words.first_time;
    if (words.first_rank && !is_later && !is_unknown) {
      evidence_.first_rank = words.first_rank;
      first_time_ = words.first_time;
    }
  }

  // If NCCL's lines are all that names processes, those are ranks, too.
  void NoteDevices(const File& file, const std::string& name, int attempt) {
    const bool is_first_node = !file.words.ranks || file.words.ranks->first == 0;
    if (!is_first_node || file.words.first_rank) return;
    for (const int device : DevicesOfProcesses(file.texts)) {
      devices_.push_back({name, device, attempt});
    }
  }

  bool Knows(int number) const {
    return std::any_of(evidence_.ranks.begin(), evidence_.ranks.end(),
                       [number](const Rank& rank) { return rank.rank == number; });
  }

  // The one without a number that has all lines, if no launcher has said how another one ended;
  // else nullptr.
  Rank* OnlyOne() {
    Rank* only = nullptr;
    for (Rank& rank : evidence_.ranks) {
      const bool is_named = rank.rank.has_value();
      if (is_named && !rank.exit_code && rank.lines.empty()) continue;
      if (is_named || only != nullptr) return nullptr;
      only = &rank;
    }
    return only;
  }

  // Adds how a process ended whose rank the launcher does not name.
  void NoteUnnamed(const LauncherRow& row, const std::string& file, int attempt) {
    constexpr int kSignals = 128;
    Rank* const only = OnlyOne();
    // Of several ranks' logs, an ordinary exit code says nothing that they do not say themselves.
    if (only == nullptr && row.exit_code.value_or(0) <= kSignals) return;
    Rank& rank = only != nullptr ? *only : RankFor(file, std::nullopt, "", attempt);
    if (row.exit_code) rank.exit_code = row.exit_code;
    if (!row.words.empty()) rank.end_words = row.words;
    if (rank.lines.empty()) rank.lines.push_back({std::nullopt, row.words, before_});
  }

  void Note(const LauncherRow& row, const std::string& file, int attempt) {
    if (!row.rank) NoteUnnamed(row, file, attempt);
    if (!row.rank) return;
    const auto known = std::find_if(evidence_.ranks.rbegin(), evidence_.ranks.rend(),
                                    [&row](const Rank& rank) { return rank.rank == row.rank; });
    const bool is_here =
        known != evidence_.ranks.rend() && (!row.has_exception || known->name == file);
    Rank& rank = is_here ? *known : RankFor(file, row.rank, "", attempt);
    if (row.exit_code) rank.exit_code = row.exit_code;
    if (!row.words.empty()) rank.end_words = row.words;
    if (!row.host.empty()) rank.host = row.host;
    if (!row.crash.empty()) {
      rank.witnesses.push_back({std::nullopt, std::string(kPythonsStack),
                                fmt::format("rank {}: {}", *row.rank, row.crash)});
    }
  }

  const KubeflowPods pods_;
  const bool has_unknown_nodes_;
  const KilledRanks& killed_;
  Evidence evidence_;
  std::optional<base::Time> first_time_;  // when evidence_.first_rank failed
  std::map<std::tuple<std::string, int, int>, size_t> places_;
  std::vector<std::tuple<std::string, int, int>> devices_;  // file, device, attempt
  PodRanks pod_ranks_;
  std::map<size_t, ErrorReport> reports_;  // by the index of a Rank that has only this file
  size_t before_ = 0;
};

}  // namespace

std::vector<Line> ReadLines(std::string_view text, size_t limit) {
  std::vector<Line> lines;
  if (text.empty()) return lines;
  std::optional<FailedTrial> trial;
  for (Split& split : SplitLines(text, limit, "", trial)) lines.push_back(std::move(split.line));
  return lines;
}

Evidence ReadLogs(const std::vector<LogFile>& files) {
  const auto have = [&files](std::string_view words) {
    return std::any_of(files.begin(), files.end(), [words](const LogFile& file) {
      return file.text.find(words) != std::string_view::npos ||
             file.name.find(words) != std::string::npos;
    });
  };
  const KubeflowPods pods{have("-master-0"), have("-launcher-0-")};
  std::vector<std::string_view> names;
  for (const LogFile& log : files) names.emplace_back(log.name);
  const std::vector<std::optional<int>> ranks = RanksOfFiles(names);
  const LastAttempts last(names);
  std::vector<File> read, errors;
  std::vector<std::pair<const LogFile*, FailureReport>> reports;
  for (size_t i = 0; i < files.size(); ++i) {
    if (last.IsEarlier(files[i].name)) continue;
    if (auto report =
            IsFailureReport(files[i].name) ? ReadFailureReport(files[i].text) : std::nullopt) {
      reports.emplace_back(&files[i], std::move(*report));
      continue;
    }
    if (IsErrorFile(files[i].name)) {
      File& error = errors.emplace_back();
      error.log = &files[i];
      error.rank = ranks[i];
      continue;
    }
    File& file = read.emplace_back();
    file.log = &files[i];
    file.rank = ranks[i];
    file.lines = SplitLines(files[i].text, kMostLines, files[i].trial, file.trial);
  }
  DropOtherFields(read);
  for (File& file : read) {  // the texts are views of lines that do not move any more
    file.texts = TextsOf(file.lines);
    file.words =
        ReadLauncherWords(AreTasksNodes(file) ? WithoutEndsOfTasks(file.texts) : file.texts);
    if (!file.words.ranks) file.words.ranks = file.log->ranks;
    file.pods = ReadDescribedPods(file.texts, pods);
  }
  NameDescribedByLogs(read);
  NameRanksByEnvironment(read);
  // Programs' timestamps have an unknown time zone and cannot be compared with the times of error
  // files.
  const OwnClock clock = errors.empty() ? ClockOf(read) : OwnClock::kNone;
  const KilledRanks killed(read);
  std::vector<LocalRanks> locals;
  locals.reserve(read.size());
  for (const File& file : read) locals.emplace_back(file.lines, file.words);
  Sorter sorter(pods, HasUnknownNodes(read, locals), killed);
  for (const File& file : errors) sorter.AddErrorFile(file, RankOfErrorFile(file, read));
  for (size_t i = 0; i < read.size(); ++i) {
    TakeOwnTimes(read[i], clock);
    sorter.Add(read[i], locals[i]);
  }
  for (const auto& [file, report] : reports) sorter.AddFailureReport(*file, report);
  return sorter.Take();
}

}  // namespace answers
