// snapshot_speed FOLDER STORE: the median time, in milliseconds, of a snapshot of FOLDER that is in
// STORE already: what goes along, what git says of it, and the snapshot itself.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <future>
#include <vector>

#include "snapshot/folder.h"
#include "snapshot/store.h"

namespace {

constexpr int kRuns = 11;

base::Result<snapshot::Snapshot> Take(const std::string& path, const std::string& store,
                                      const base::Environment& environment) {
  TRY_ASSIGN(const snapshot::Folder folder, snapshot::FindFolder(path, environment));
  auto git = std::async(std::launch::async, [&folder, &environment] {
    return snapshot::ReadGitState(folder, environment);
  });
  const auto entries = snapshot::ListFolder(folder, {}, environment);
  TRY(git.get());
  if (!entries) return base::Fail(entries.error());
  return snapshot::Store(store).Take(folder.root, *entries);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  base::Environment environment;
  environment.Set("PATH", std::getenv("PATH"));
  std::vector<double> times;
  for (int run = 0; run <= kRuns; ++run) {
    const auto begin = std::chrono::steady_clock::now();
    const auto taken = Take(argv[1], argv[2], environment);
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    if (!taken) {
      fmt::print(stderr, "{}\n", taken.error().message);
      return 1;
    }
    if (run > 0) times.push_back(took.count());  // the first stores the files
  }
  std::sort(times.begin(), times.end());
  fmt::print("{:.1f}\n", times[times.size() / 2]);
}
