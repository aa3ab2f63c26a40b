// simulate_cluster: lives of the embedded cluster, each from one seed.
//
//   simulate_cluster --seeds N [--first S] [--jobs J]   a line for each seed that went wrong
//   simulate_cluster --seed S [--trace]                 one, again
//   simulate_cluster --seeds N --twice                  whether a seed gives the same life again
#include <fmt/format.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <new>
#include <optional>
#include <string>
#include <string_view>

#include "base/strings.h"
#include "life.h"
#include "threads.h"

namespace {

struct Options {
  uint64_t first = 1;
  uint64_t seeds = 0;
  uint64_t jobs = 1;
  uint64_t give_up_after = 5;  // seeds that go wrong
  bool is_one = false;         // in this process, with its trace's hash
  bool is_traced = false;
  bool is_twice = false;
};

std::optional<Options> Parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view flag = argv[i];
    if (flag == "--trace") {
      options.is_one = options.is_traced = true;
      continue;
    }
    if (flag == "--twice") {
      options.is_one = options.is_twice = true;
      continue;
    }
    const auto value = i + 1 < argc ? base::ParseInt(argv[++i]) : std::nullopt;
    if (!value || *value < 0) return std::nullopt;
    const auto number = static_cast<uint64_t>(*value);
    if (flag == "--seeds") {
      options.seeds = number;
    } else if (flag == "--first") {
      options.first = number;
    } else if (flag == "--jobs") {
      options.jobs = number;
    } else if (flag == "--give-up-after") {
      options.give_up_after = number;
    } else if (flag == "--seed") {
      options.first = number;
      options.seeds = 1;
      options.is_one = true;
    } else {
      return std::nullopt;
    }
  }
  if (options.seeds == 0 || options.jobs == 0) return std::nullopt;
  return options;
}

// What a process does once only (SQLite's tables, say) is not to be a part of whichever life is its
// first.
void WarmUp() { (void)simulation::LiveOnce({0, false}); }

// Seconds of a processor: a life that takes more turns in circles, and SIGPROF ends it, however few
// of them a busy machine leaves for it.
constexpr itimerval kLongestLife{{}, {60, 0}};
// Seconds of the real clock: one that takes longer waits for what does not come, and SIGALRM ends
// it.
constexpr unsigned kLongestWait = 4 * 3600;

// In memory that the processes share.
struct Progress {
  std::atomic<uint64_t> seed;
  std::atomic<uint64_t> begun = 0;
};
// So often the driver is woken: it takes time from the lives.
constexpr uint64_t kTellEvery = 100;

// In a process of its own: a life that goes wrong ends it.
[[noreturn]] void LiveSome(uint64_t first, uint64_t end, uint64_t step, Progress& progress,
                           int bell) {
  WarmUp();
  for (uint64_t seed = first; seed < end; seed += step) {
    progress.seed = seed;
    if (++progress.begun % kTellEvery == 0 && ::write(bell, "", 1) != 1) ::_exit(1);
    ::setitimer(ITIMER_PROF, &kLongestLife, nullptr);
    ::alarm(kLongestWait);
    (void)simulation::LiveOnce({seed, false});
  }
  ::_exit(0);
}

struct Shard {
  Progress* progress = nullptr;
  int bell = -1;
};

Progress* NewProgress(uint64_t first) {
  void* const memory =
      ::mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : new (memory) Progress{first};
}

double ProcessorSeconds(const timeval& user, const timeval& system) {
  return static_cast<double>(user.tv_sec + system.tv_sec) +
         static_cast<double>(user.tv_usec + system.tv_usec) / 1e6;
}

// A run of an hour or more says from time to time how far it is, for whoever cuts it off.
constexpr uint64_t kSayEvery = 10'000;

void SayHowFar(uint64_t begun, uint64_t wrong, const std::map<pid_t, Shard>& shards) {
  rusage ended{};
  ::getrusage(RUSAGE_CHILDREN, &ended);
  double used = ProcessorSeconds(ended.ru_utime, ended.ru_stime);
  for (const auto& [child, shard] : shards) {
    clockid_t clock{};
    timespec time{};
    if (::clock_getcpuclockid(child, &clock) != 0 || ::clock_gettime(clock, &time) != 0) continue;
    used += static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
  }
  std::printf("%llu seeds begun, %llu went wrong, %.0f s of processors\n",
              static_cast<unsigned long long>(begun), static_cast<unsigned long long>(wrong), used);
  std::fflush(stdout);
}

int RunAll(const Options& options) {
  const auto begin = std::chrono::steady_clock::now();
  const uint64_t end = options.first + options.seeds;
  std::map<pid_t, Shard> shards;
  const auto start = [&](uint64_t first) {
    int ends[2];
    if (first >= end) return;
    Progress* const progress = NewProgress(first);
    if (progress == nullptr || ::pipe(ends) != 0) return;
    const pid_t child = ::fork();
    if (child == 0) {
      ::close(ends[0]);
      LiveSome(first, end, options.jobs, *progress, ends[1]);
    }
    ::close(ends[1]);
    shards[child] = {progress, ends[0]};
  };
  for (uint64_t i = 0; i < options.jobs; ++i) start(options.first + i);
  uint64_t wrong = 0;
  uint64_t begun_before = 0;  // by those that have ended
  uint64_t said = 0;
  while (!shards.empty()) {
    // Whoever writes is behind; whoever has ended is read to its end.
    fd_set set;
    FD_ZERO(&set);
    int highest = 0;
    for (const auto& [child, shard] : shards) {
      FD_SET(shard.bell, &set);
      highest = std::max(highest, shard.bell);
    }
    if (::select(highest + 1, &set, nullptr, nullptr, nullptr) < 0) return 1;
    for (auto it = shards.begin(); it != shards.end();) {
      Shard& shard = it->second;
      char rung = 0;
      if (!FD_ISSET(shard.bell, &set) || ::read(shard.bell, &rung, 1) == 1) {
        ++it;
        continue;
      }
      int status = 0;
      ::waitpid(it->first, &status, 0);
      ::close(shard.bell);
      const uint64_t last = shard.progress->seed;
      begun_before += shard.progress->begun;
      ::munmap(shard.progress, sizeof(Progress));
      it = shards.erase(it);
      if (status == 0) continue;
      if (WIFSIGNALED(status)) {
        const int by = WTERMSIG(status);
        std::printf("seed %llu went wrong: %s\n", static_cast<unsigned long long>(last),
                    by == SIGPROF || by == SIGALRM ? "it does not end" : ::strsignal(by));
        std::fflush(stdout);
      }
      if (++wrong < options.give_up_after) start(last + options.jobs);
    }
    uint64_t begun = begun_before;
    for (const auto& [child, shard] : shards) begun += shard.progress->begun;
    if (begun / kSayEvery > said) SayHowFar(begun, wrong, shards);
    said = begun / kSayEvery;
  }
  const auto seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin);
  rusage used{};
  ::getrusage(RUSAGE_CHILDREN, &used);
  const double cpu = ProcessorSeconds(used.ru_utime, used.ru_stime);
  std::printf(
      "%llu seeds from %llu, %llu went wrong, %.1f s (%.1f s of processors: %.1f ms a seed)\n",
      static_cast<unsigned long long>(options.seeds),
      static_cast<unsigned long long>(options.first), static_cast<unsigned long long>(wrong),
      seconds.count(), cpu, 1e3 * cpu / static_cast<double>(options.seeds));
  return wrong == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  // As the store's, which comes too late for it here: a life opens a file of its own before.
  sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
  simulation::MapStoresMemory();
  const auto options = Parse(argc, argv);
  if (!options) {
    std::fputs("usage: simulate_cluster --seeds N [--first S] [--jobs J] | --seed S [--trace]\n",
               stderr);
    return 2;
  }
  if (!options->is_one) return RunAll(*options);
  WarmUp();
  for (uint64_t i = 0; i < options->seeds; ++i) {
    const uint64_t seed = options->first + i;
    // The second life gets other blocks, so that an order of addresses in it would show.
    const bool settles_heap = !options->is_twice;
    const uint64_t hash = simulation::LiveOnce({seed, options->is_traced, settles_heap});
    std::printf("seed %llu: %016llx\n", static_cast<unsigned long long>(seed),
                static_cast<unsigned long long>(hash));
    if (!options->is_twice) continue;
    if (simulation::LiveOnce({seed, false, settles_heap}) == hash) continue;
    std::printf("seed %llu gives another life the second time\n",
                static_cast<unsigned long long>(seed));
    return 1;
  }
  return 0;
}
