#include "witness/stacks.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "base/fd.h"
#include "base/file.h"
#include "base/folder.h"
#include "base/strings.h"

namespace witness {
namespace {

constexpr size_t kLongestDump = 1 << 20;
constexpr uint64_t kLongestFile = 4 << 20;
constexpr uint64_t kLongestSource = 4 << 20;
constexpr int kMostDescriptors = 4096;
constexpr int kMostNumber = 1 << 30;
constexpr int kOutputs[] = {1, 2};
constexpr uint64_t kPollsPerTick = 100;
constexpr std::chrono::milliseconds kPoll{5};
// PyTorch gives the threads of its worker server this name.
constexpr std::string_view kAnsweringThread = "pt_workerserver";

// How long a main thread must have slept before faulthandler is called in it.
constexpr std::chrono::milliseconds kAsleep{10};
// And the other threads, before it is asked for their stacks.
constexpr std::chrono::milliseconds kAtRest{50};
constexpr std::chrono::milliseconds kLongestUnrest{500};  // then the main thread must do
// A main thread in Python's own code answers within this time, and before it has worked for two
// ticks or gone to sleep twice.
constexpr std::chrono::milliseconds kBetweenInstructions{50};
constexpr uint64_t kWorkedOn = 2;

// The hook handles SIGRTMAX, as Python defines it, minus two to five: faulthandler, for the main
// thread and for all; and between two instructions, for the same.
int StacksSignal() { return SIGRTMAX - 2; }
int AllStacksSignal() { return SIGRTMAX - 3; }
int SignalBetween(Threads threads) { return SIGRTMAX - (threads == Threads::kAll ? 5 : 4); }

std::string FileOf(const std::string& folder, pid_t pid) {
  return fmt::format("{}/{}", folder, pid);
}

std::string_view FieldOf(std::string_view text, std::string_view name) {
  const size_t at = text.find(name);
  if (at == std::string_view::npos) return {};
  text = base::Trim(text.substr(at + name.size()));
  return text.substr(0, text.find_first_of(" \n\t"));
}

int NumberOf(std::string_view text, int otherwise) {
  const auto number = base::ParseInt(text);
  return number && *number >= 0 && *number <= kMostNumber ? static_cast<int>(*number) : otherwise;
}

uint64_t MaskOf(std::string_view status, std::string_view name) {
  return std::strtoull(std::string(FieldOf(status, name)).c_str(), nullptr, 16);
}

uint64_t SwitchesIn(std::string_view status) {
  const std::string_view count = FieldOf(status, "\nvoluntary_ctxt_switches:\t");
  return std::strtoull(std::string(count).c_str(), nullptr, 10);
}

bool HasSignal(uint64_t mask, int signal) { return (mask >> (signal - 1) & 1) != 0; }

bool Catches(pid_t pid, int signal) {
  const auto status = base::ReadFile(fmt::format("/proc/{}/status", pid), 1 << 16);
  return status && HasSignal(MaskOf(*status, "SigCgt:"), signal);
}

// Each program opens the file itself, because an exec closes it.
bool HasOpen(pid_t pid, const std::string& path) {
  struct stat file{};
  if (::lstat(path.c_str(), &file) != 0 || !S_ISREG(file.st_mode)) return false;
  const std::string fds = fmt::format("/proc/{}/fd", pid);
  const std::unique_ptr<DIR, int (*)(DIR*)> dir(::opendir(fds.c_str()), ::closedir);
  if (!dir) return false;
  for (int i = 0; i < kMostDescriptors; ++i) {
    const dirent* const entry = ::readdir(dir.get());
    if (entry == nullptr) break;
    struct stat open{};
    if (::fstatat(::dirfd(dir.get()), entry->d_name, &open, 0) == 0 && open.st_dev == file.st_dev &&
        open.st_ino == file.st_ino) {
      return true;
    }
  }
  return false;
}

// How much of the process's stdout and stderr has not been read yet; nullopt if one of them takes
// no more, so that a write(2) may be waiting there. A signal would cut that short, and Python loses
// the rest (python -u).
using Unread = std::optional<std::array<int, std::size(kOutputs)>>;
Unread UnreadOf(pid_t pid) {
  std::array<int, std::size(kOutputs)> unread{};
  for (size_t i = 0; i < unread.size(); ++i) {
    const std::string path = fmt::format("/proc/{}/fd/{}", pid, kOutputs[i]);
    struct stat file{};
    if (::stat(path.c_str(), &file) != 0) continue;
    if (!S_ISFIFO(file.st_mode) && !S_ISCHR(file.st_mode)) continue;
    const base::Fd fd(::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    if (!fd) continue;
    pollfd output{fd.get(), POLLOUT, 0};
    if (::poll(&output, 1, 0) == 0) return std::nullopt;
    if (S_ISFIFO(file.st_mode)) (void)::ioctl(fd.get(), FIONREAD, &unread[i]);
  }
  return unread;
}

bool CanBeAsked(const std::string& folder, pid_t pid) {
  return Catches(pid, StacksSignal()) && HasOpen(pid, FileOf(folder, pid));
}

base::Fd OpenRegular(const std::string& path) {
  base::Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat info{};
  if (!fd || ::fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode)) return {};
  return fd;
}

// Returns at most `limit` bytes, starting at `offset`; "" at the end of the file.
std::string ReadFrom(const std::string& path, uint64_t offset, size_t limit) {
  const base::Fd fd = OpenRegular(path);
  std::string text(limit, '\0');
  size_t size = 0;
  while (fd && size < limit) {
    const ssize_t count =
        ::pread(fd.get(), text.data() + size, limit - size, static_cast<off_t>(offset + size));
    if (count <= 0) break;
    size += static_cast<size_t>(count);
  }
  text.resize(size);
  return text;
}

uint64_t SizeOf(const std::string& path) {
  struct stat info{};
  return ::stat(path.c_str(), &info) == 0 ? static_cast<uint64_t>(info.st_size) : 0;
}

// Reads what the process has written about itself.
Asked HeadOf(const std::string& folder, pid_t pid) {
  Asked asked;
  asked.pid = pid;
  const std::string head = ReadFrom(FileOf(folder, pid), 0, 256);
  const std::string_view line = std::string_view(head).substr(0, head.find('\n'));
  asked.rank = NumberOf(FieldOf(line, "rank="), -1);
  asked.world = NumberOf(FieldOf(line, "world="), 0);
  asked.is_child = FieldOf(line, "parent=") != "0";
  return asked;
}

// Whether it went back to sleep after less than a tenth of a millisecond each time it woke up.
bool OnlyPolls(const process::ProcessStat& thread) {
  return SwitchesOf(thread.pid, thread.pid).value_or(0) > kPollsPerTick * (thread.own_ticks + 1);
}

using Instant = std::chrono::steady_clock::time_point;

// How often each of the other threads has slept; nullopt if one of them does not sleep.
using Sleeps = std::optional<std::map<pid_t, uint64_t>>;
Sleeps SleepsOfOthers(pid_t pid) {
  std::map<pid_t, uint64_t> sleeps;
  for (const process::ProcessStat& thread : process::ThreadsOf(pid)) {
    if (thread.pid == pid) continue;
    const auto switches = SwitchesOf(pid, thread.pid);
    if (thread.state != 'S' || !switches) return std::nullopt;
    sleeps[thread.pid] = *switches;
  }
  return sleeps;
}

}  // namespace

std::string FolderOfPod(const std::string& state_directory, std::string_view pod_uid) {
  return fmt::format("{}/pods/{}/stacks", state_directory, pod_uid);
}

std::string StallKillFileOf(const std::string& folder, pid_t pid) {
  return fmt::format("{}/stall-kill-{}", base::DirectoryOf(folder), pid);
}

std::string FolderOf(pid_t pid) {
  const std::string begin = fmt::format("{}=", kStacksVariable);
  for (const std::string& entry : process::EnvironmentOf(pid)) {
    if (entry.starts_with(begin)) return entry.substr(begin.size());
  }
  return "";
}

std::vector<Asked> ProcessesIn(const std::string& folder) {
  std::vector<Asked> found;
  for (const std::string& name : base::EntriesOf(folder)) {
    const pid_t pid = NumberOf(name, 0);
    if (pid > 0 && CanBeAsked(folder, pid)) found.push_back(HeadOf(folder, pid));
  }
  std::sort(found.begin(), found.end(),
            [](const Asked& a, const Asked& b) { return a.pid < b.pid; });
  return found;
}

class Question::Asking {
 public:
  // What the kernel says of a main thread.
  struct MainThread {
    Instant at{};
    char state = '?';
    uint64_t switches = 0;  // how often it has slept
    uint64_t ticks = 0;     // of the processor
    uint64_t pending = 0;   // signals
  };
  static std::optional<MainThread> LookAtMainThread(pid_t pid) {
    const std::string folder = fmt::format("/proc/{0}/task/{0}", pid);
    MainThread look;
    look.at = std::chrono::steady_clock::now();
    const auto status = base::ReadFile(folder + "/status", 1 << 16);
    const auto text = base::ReadFile(folder + "/stat", 4096);
    if (!status || !text) return std::nullopt;
    const auto stat = process::ParseStat(*text);
    if (!stat) return std::nullopt;
    look.state = stat->state;
    look.ticks = stat->own_ticks;
    look.switches = SwitchesIn(*status);
    look.pending = MaskOf(*status, "SigPnd:");
    return look;
  }

  // Whether it would have answered between two instructions, had it been in Python's own code.
  static bool WorkedOn(const MainThread& asked, const MainThread& now) {
    return now.at - asked.at >= kBetweenInstructions &&
           (now.switches >= asked.switches + kWorkedOn || now.ticks >= asked.ticks + kWorkedOn);
  }

  Asking(pid_t pid, std::string file, Threads threads, const MainThread& seen)
      : pid_(pid), file_(std::move(file)), threads_(threads), began_(seen.at), seen_(seen) {
    // The first line, which identifies the process, is read from the beginning of the file, so that
    // it must stay.
    if (SizeOf(file_) > kLongestFile) (void)::truncate(file_.c_str(), 256);
    size_ = SizeOf(file_);
    unread_ = UnreadOf(pid_);
  }

  pid_t pid() const { return pid_; }
  bool is_busy() const { return is_busy_; }
  bool HasAnswered() const { return (was_asked_ || asked_between_) && SizeOf(file_) > size_; }
  std::string Answer() const {
    return HasAnswered() ? ReadFrom(file_, size_, kLongestDump) : std::string();
  }
  // False once the process is gone.
  bool Advance() {
    if (was_asked_) return true;
    const auto now = LookAtMainThread(pid_);
    // Only then: it may have answered, and worked on, while this thread had no processor.
    if (HasAnswered()) return true;
    if (now && now->at - seen_.at >= kAsleep) Ask(*now);
    return now.has_value();
  }

 private:
  void Ask(const MainThread& now) {
    const MainThread before = std::exchange(seen_, now);
    const Unread unread = UnreadOf(pid_), unread_before = std::exchange(unread_, unread);
    if (!unread || unread != unread_before) return;
    const bool is_asleep =
        now.state == 'S' && before.state == 'S' && now.switches == before.switches;
    // Then it may be within a write, and its reader slow.
    if (!is_asleep && unread != Unread(std::in_place)) return;
    const int between = SignalBetween(threads_);
    if (is_asleep) {
      AskAsleep(now.at);
    } else if (!asked_between_) {
      if (Send(between)) asked_between_ = now;
    } else if (!HasSignal(now.pending, between) && WorkedOn(*asked_between_, now)) {
      was_asked_ = Send(StacksSignal());
      is_busy_ = threads_ == Threads::kAll;
    }
  }

  void AskAsleep(Instant now) {
    if (threads_ == Threads::kMain) {
      was_asked_ = Send(StacksSignal());
      return;
    }
    // Threads that poll sleep for most of the time.
    if (others_seen_ && now - *others_seen_ < kAtRest) return;
    const bool is_first = !others_seen_;
    others_seen_ = now;
    const Sleeps before = std::exchange(others_, SleepsOfOthers(pid_));
    if (!is_first && others_ && others_ == before) {
      was_asked_ = Send(AllStacksSignal());
    } else if (now - began_ >= kLongestUnrest) {
      was_asked_ = Send(StacksSignal());
      is_busy_ = true;
    }
  }

  // An exec ends that the process handles the signals: it is looked at once more.
  bool Send(int signal) const {
    if (!Catches(pid_, signal) || !HasOpen(pid_, file_)) return false;
    // To the main thread, because it runs the user's code.
    return ::syscall(SYS_tgkill, pid_, pid_, signal) == 0;
  }

  pid_t pid_;
  std::string file_;
  uint64_t size_ = 0;  // before it was asked
  Threads threads_;
  Instant began_;
  MainThread seen_;
  std::optional<MainThread> asked_between_;  // then it was asked to answer between instructions
  bool was_asked_ = false;                   // by faulthandler
  bool is_busy_ = false;
  Unread unread_;
  Sleeps others_;
  std::optional<Instant> others_seen_;
};

Question::Question(Question&&) noexcept = default;
Question::~Question() = default;

Question::Question(const PidsByFolder& asked, Threads threads) {
  for (const auto& [folder, pids] : asked) {
    for (const pid_t pid : pids) {
      const auto seen = CanBeAsked(folder, pid) ? Asking::LookAtMainThread(pid) : std::nullopt;
      if (seen) askings_.emplace_back(pid, FileOf(folder, pid), threads, *seen);
    }
  }
  if (askings_.empty()) return;
  std::this_thread::sleep_for(kAsleep);
  Advance();
}

void Question::Advance() {
  std::erase_if(askings_, [](Asking& asking) { return !asking.Advance(); });
}

std::set<pid_t> Question::Busy() const {
  std::set<pid_t> busy;
  for (const Asking& asking : askings_) {
    if (asking.is_busy()) busy.insert(asking.pid());
  }
  return busy;
}

bool Question::LacksAnswers() {
  Advance();
  return std::any_of(askings_.begin(), askings_.end(), [](const Asking& asking) {
    if (asking.HasAnswered()) return false;
    const auto stat = process::ReadStat(asking.pid());
    return stat && (stat->state == 'R' || stat->state == 'S');
  });
}

std::map<pid_t, std::string> Question::Answers() const {
  std::map<pid_t, std::string> answers;
  for (const Asking& asking : askings_) {
    std::string answer = asking.Answer();
    if (!answer.empty()) answers[asking.pid()] = std::move(answer);
  }
  return answers;
}

std::map<pid_t, std::string> Question::Await(std::chrono::milliseconds limit) {
  std::map<pid_t, std::string> answers;
  for (std::chrono::milliseconds waited{0}; waited < limit; waited += kPoll) {
    std::this_thread::sleep_for(kPoll);
    Advance();
    auto now = Answers();
    const bool is_whole = now.size() == askings_.size() && now == answers;
    answers = std::move(now);
    if (is_whole) break;
  }
  return answers;
}

std::optional<uint64_t> SwitchesOf(pid_t pid, pid_t thread) {
  const auto status = base::ReadFile(fmt::format("/proc/{}/task/{}/status", pid, thread), 1 << 16);
  if (!status) return std::nullopt;
  return SwitchesIn(*status);
}

answers::Activity ActivityOf(const std::string& folder, pid_t pid, process::ProcessTree& tree) {
  answers::Activity activity;
  const auto stat = process::ReadStat(pid);
  const auto switches = SwitchesOf(pid, pid);
  if (!stat || !switches) return activity;
  activity.state = stat->state;
  activity.dumped = SizeOf(FileOf(folder, pid));
  activity.ticks = stat->ticks;
  for (const process::ProcessStat& child : tree.DescendantsOf(pid)) activity.ticks += child.ticks;
  activity.switches = *switches;
  if (const auto io = base::ReadFile(fmt::format("/proc/{0}/task/{0}/io", pid), 4096)) {
    for (const std::string_view name : {"syscr: ", "syscw: "}) {
      activity.transfers += std::strtoull(std::string(FieldOf(*io, name)).c_str(), nullptr, 10);
    }
  }
  return activity;
}

bool HasWorkToDo(pid_t pid, process::ProcessTree& tree) {
  const auto has = [](const process::ProcessStat& stat) {
    if (stat.name == kAnsweringThread) return false;
    return stat.state == 'D' || (stat.state == 'R' && !OnlyPolls(stat));
  };
  std::vector<process::ProcessStat> others = process::ThreadsOf(pid);
  std::erase_if(others, [pid](const process::ProcessStat& thread) { return thread.pid == pid; });
  for (const process::ProcessStat& child : tree.DescendantsOf(pid)) {
    const auto threads = process::ThreadsOf(child.pid);
    others.insert(others.end(), threads.begin(), threads.end());
  }
  return std::any_of(others.begin(), others.end(), has);
}

std::set<int> RanksWithWork(const std::vector<answers::RankLook>& looks,
                            process::ProcessTree& tree) {
  std::set<int> ranks;
  for (const answers::RankLook& look : looks) {
    if (!look.has_ended && HasWorkToDo(look.pid, tree)) ranks.insert(look.rank);
  }
  return ranks;
}

std::string SourceLine(std::string_view file, int line) {
  if (!file.starts_with('/') || !file.ends_with(".py") || line <= 0) return "";
  const std::string text = ReadFrom(std::string(file), 0, kLongestSource);
  size_t begin = 0;
  for (int at = 1; at < line && begin != std::string::npos; ++at) {
    begin = text.find('\n', begin);
    if (begin != std::string::npos) ++begin;
  }
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find('\n', begin) - begin);
}

std::optional<RankCrash> CrashOf(const std::string& folder, pid_t pid) {
  const std::string path = FileOf(folder, pid);
  const uint64_t size = SizeOf(path);
  const std::string end =
      ReadFrom(path, size > kLongestDump ? size - kLongestDump : 0, kLongestDump);
  const auto crash = answers::ReadCrash(end);
  if (!crash) return std::nullopt;
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0) return std::nullopt;
  const auto time =
      std::chrono::seconds(info.st_mtim.tv_sec) + std::chrono::nanoseconds(info.st_mtim.tv_nsec);
  return RankCrash{HeadOf(folder, pid).rank,
                   base::Time(std::chrono::duration_cast<base::Time::duration>(time)),
                   answers::Say(*crash)};
}

std::vector<RankCrash> CrashesIn(const std::string& folder, base::Time since) {
  std::map<int, RankCrash> last;
  for (const std::string& name : base::EntriesOf(folder)) {
    const pid_t pid = NumberOf(name, 0);
    if (pid <= 0 || HeadOf(folder, pid).is_child) continue;
    auto crash = CrashOf(folder, pid);
    if (!crash || crash->text.empty() || crash->time < since) continue;
    auto& known = last[crash->rank];
    if (known.text.empty() || known.time < crash->time) known = std::move(*crash);
  }
  std::vector<RankCrash> crashes;
  for (auto& [rank, crash] : last) crashes.push_back(std::move(crash));
  std::stable_sort(crashes.begin(), crashes.end(),
                   [](const auto& a, const auto& b) { return a.time < b.time; });
  return crashes;
}

std::map<int, Asked> RanksAmong(const std::vector<Asked>& processes) {
  std::map<int, Asked> ranks;
  for (const Asked& process : processes) {
    if (process.rank >= 0 && !process.is_child) ranks.try_emplace(process.rank, process);
  }
  return ranks;
}

}  // namespace witness
