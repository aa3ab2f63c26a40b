#include "ads/artifact_sync.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <optional>
#include <vector>

#include "base/defer.h"

namespace ads {
namespace {

namespace fs = std::filesystem;

// A writer that pauses for longer is copied half, and again when it goes on.
constexpr std::chrono::seconds kSettled{2};

}  // namespace

ArtifactSync::ArtifactSync(std::string folder, std::unique_ptr<ObjectStorage> storage,
                           std::chrono::seconds interval, base::Clock& clock, cli::Output& err)
    : folder_(std::move(folder)),
      storage_(std::move(storage)),
      interval_(interval),
      clock_(clock),
      err_(err) {}

ArtifactSync::~ArtifactSync() = default;

void ArtifactSync::Start() {
  // Signals are the main thread's: one that this thread took would end the program on the spot.
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const base::Defer restore([&before] { ::pthread_sigmask(SIG_SETMASK, &before, nullptr); });
  thread_ = std::jthread([this](const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (!stop.stop_requested()) {
      if (base::Status status = Round(false); !status) {
        (void)err_.Write(fmt::format("sync: {}\n", status.error().message));
      }
      wake_.wait_for(lock, stop, interval_, [] { return false; });
    }
  });
}

base::Status ArtifactSync::Finish() {
  thread_ = {};
  return Round(true);
}

base::Status ArtifactSync::Round(bool all) {
  std::vector<ObjectStorage::FileToPut> files;
  std::vector<Version> versions;
  const auto settled = (clock_.Now() - kSettled).time_since_epoch();
  std::error_code error;
  fs::recursive_directory_iterator at(folder_, error);
  if (error) return {};  // nothing has been written yet
  for (; !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    const std::string path = at->path().string();
    struct stat info{};
    if (::stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) continue;
    const Version version{info.st_size,
                          info.st_mtim.tv_sec * 1'000'000'000LL + info.st_mtim.tv_nsec};
    const std::string name = path.substr(folder_.size() + 1);
    const auto known = copied_.find(name);
    if (known != copied_.end() && known->second == version) continue;
    if (!all && std::chrono::nanoseconds(version.modified) > settled) continue;
    files.push_back({name, path});
    versions.push_back(version);
  }
  const auto results = storage_->PutFiles(files);
  std::optional<base::Error> first;
  for (size_t i = 0; i < results.size(); ++i) {
    if (results[i]) {
      copied_[files[i].name] = versions[i];
    } else if (!first) {
      first = results[i].error();
    }
  }
  if (first) return base::Fail(*first);
  return {};
}

}  // namespace ads
