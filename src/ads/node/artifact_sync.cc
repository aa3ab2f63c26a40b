#include "ads/node/artifact_sync.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <filesystem>
#include <optional>

#include "base/block_signals.h"

namespace ads {
namespace {

namespace fs = std::filesystem;

// Changes within this time are handled together.
constexpr int kGatherMillis = 100;

std::optional<struct stat> StatOfFile(const std::string& path) {
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
  return info;
}

// So that a slash and a name follow in a path.
std::string WithoutLastSlashes(std::string folder) {
  while (folder.size() > 1 && folder.ends_with('/')) folder.pop_back();
  return folder;
}

int64_t ModifiedNanos(const struct stat& info) {
  return info.st_mtim.tv_sec * 1'000'000'000LL + info.st_mtim.tv_nsec;
}

}  // namespace

ArtifactSync::ArtifactSync(std::string folder, std::unique_ptr<ObjectStorage> storage,
                           SyncRhythm rhythm, base::Clock& clock, cli::Output& err)
    : folder_(WithoutLastSlashes(std::move(folder))),
      storage_(std::move(storage)),
      rhythm_(rhythm),
      clock_(clock),
      err_(err),
      plan_(rhythm) {}

ArtifactSync::~ArtifactSync() { Stop(); }

void ArtifactSync::Report(const std::string& what) { (void)err_.Write("sync: " + what + "\n"); }

base::Status ArtifactSync::Start() {
  stop_ = base::Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!stop_) return base::Fail(base::Errno(errno, "eventfd"));
  const base::BlockSignals in_the_thread;
  thread_ = std::thread([this] { Run(); });
  return {};
}

void ArtifactSync::Stop() {
  if (!thread_.joinable()) return;
  const uint64_t one = 1;
  (void)!::write(stop_.get(), &one, sizeof one);
  thread_.join();
}

base::Status ArtifactSync::Finish() {
  Stop();
  Found found = Scan();
  TRY(CopyChanged(found.files));
  return std::move(found.status);
}

void ArtifactSync::Run() {
  while (true) {
    if (!watch_) OpenWatch();
    if (watch_) TakeChanges();
    if (!watch_) PlanAll();
    const std::vector<std::string> names = plan_.Take(clock_.Steady());
    if (!names.empty()) {
      if (base::Status status = Copy(names); !status) Report(status.error().message);
    }
    if (AwaitWork()) return;
  }
}

void ArtifactSync::OpenWatch() {
  auto opened = FolderWatch::Open(folder_);
  if (opened) {
    watch_ = std::move(*opened);
    PlanAll();
  } else if (opened.error().code != base::Code::kNotFound && !has_reported_) {
    has_reported_ = true;
    Report(fmt::format("{}: it is looked through every {} s", opened.error().message,
                       rhythm_.interval.count() / 1000));
  }
}

void ArtifactSync::TakeChanges() {
  const FolderWatch::Changes changes = watch_->Read();
  const auto now = clock_.Steady();
  for (const auto& [name, is_closed] : changes.files) plan_.Changed(name, is_closed, now);
  if (changes.has_gaps) PlanAll();
  if (changes.has_ended) watch_.reset();
}

bool ArtifactSync::AwaitWork() {
  using std::chrono::milliseconds;
  const auto now = clock_.Steady();
  auto until = plan_.Next();
  if (!watch_ && (!until || *until > now + rhythm_.interval)) until = now + rhythm_.interval;
  int wait = -1;
  if (until) {
    const auto left = std::chrono::ceil<milliseconds>(*until - now).count();
    wait = static_cast<int>(std::clamp<int64_t>(left, 0, INT_MAX));
  }
  pollfd waited[] = {{stop_.get(), POLLIN, 0}, {watch_ ? watch_->fd() : -1, POLLIN, 0}};
  if (::poll(waited, 2, wait) > 0 && waited[1].revents != 0 && waited[0].revents == 0) {
    (void)::poll(waited, 1, kGatherMillis);
  }
  return waited[0].revents != 0;
}

// It is not an error if something is deleted meanwhile; any other reason why files cannot be seen
// is one, but visible files are found all the same.
void ArtifactSync::ScanFolder(const std::string& folder, std::vector<std::string>& below,
                              Found& found) const {
  const auto note = [&](const std::string& path, int os_errno) {
    if (os_errno == ENOENT || os_errno == ENOTDIR || !found.status) return;
    found.status = base::Fail(base::Errno(os_errno, fmt::format("look through \"{}\"", path)));
  };
  std::error_code error;
  fs::directory_iterator at(folder, error);
  while (!error && at != fs::directory_iterator()) {
    const std::string path = at->path().string();
    struct stat info{};
    const bool is_link = at->is_symlink(error);
    if (error || ::stat(path.c_str(), &info) != 0) {
      note(path, error ? error.value() : errno);
    } else if (S_ISDIR(info.st_mode) && !is_link) {
      below.push_back(path);
    } else if (S_ISREG(info.st_mode)) {
      Changed file{path.substr(folder_.size() + 1), {info.st_size, ModifiedNanos(info)}};
      const auto known = copied_.find(file.name);
      const bool is_known = known != copied_.end() && known->second == file.version;
      if (!is_known) found.files.push_back(std::move(file));
    }
    error.clear();
    at.increment(error);
  }
  if (error) note(folder, error.value());
}

ArtifactSync::Found ArtifactSync::Scan() const {
  Found found;
  std::vector<std::string> folders = {folder_};
  while (!folders.empty()) {
    const std::string folder = std::move(folders.back());
    folders.pop_back();
    ScanFolder(folder, folders, found);
  }
  return found;
}

void ArtifactSync::PlanAll() {
  const auto now = clock_.Steady();
  const int64_t wall = std::chrono::nanoseconds(clock_.Now().time_since_epoch()).count();
  const Found found = Scan();
  for (const Changed& file : found.files) {
    const int64_t age = std::max<int64_t>(wall - file.version.modified, 0);
    plan_.Changed(file.name, false, now - std::chrono::nanoseconds(age));
  }
  const std::string error = found.status ? "" : found.status.error().message;
  if (!error.empty() && error != reported_error_) Report(error);
  reported_error_ = error;
}

base::Status ArtifactSync::Copy(const std::vector<std::string>& names) {
  std::vector<Changed> files;
  for (const std::string& name : names) {
    const auto info = StatOfFile(folder_ + "/" + name);
    if (!info) continue;
    const Version version{info->st_size, ModifiedNanos(*info)};
    const auto known = copied_.find(name);
    if (known == copied_.end() || known->second != version) files.push_back({name, version});
  }
  return CopyChanged(files);
}

base::Status ArtifactSync::CopyChanged(const std::vector<Changed>& files) {
  std::vector<ObjectStorage::FileToPut> wanted;
  wanted.reserve(files.size());
  for (const Changed& file : files) wanted.push_back({file.name, folder_ + "/" + file.name});
  const auto results = storage_->PutFiles(wanted);
  std::optional<base::Error> first;
  for (size_t i = 0; i < results.size(); ++i) {
    const auto now = clock_.Steady();
    plan_.Tried(files[i].name, now);
    if (results[i]) {
      copied_[files[i].name] = files[i].version;
    } else if (StatOfFile(wanted[i].path)) {
      plan_.Changed(files[i].name, true, now);
      if (!first) first = results[i].error();
    }
  }
  if (first) return base::Fail(*first);
  return {};
}

}  // namespace ads
