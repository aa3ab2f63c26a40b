#include "disk.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "threads.h"

namespace simulation {
namespace {

Disk* the_disk = nullptr;

// How often, of so many operations on files, others may run.
constexpr unsigned kFileOdds = 4;
// What a disk writes as one.
constexpr size_t kSector = 512;
// Few of the store's files become longer; of memory only what is used costs anything.
constexpr size_t kUsualBytes = 4 << 20;

long Call(long number, const char* a, const char* b) {
  return ::syscall(number, AT_FDCWD, a, AT_FDCWD, b, 0);
}

}  // namespace

struct Disk::Change {
  int64_t offset = 0;
  std::string after;
  std::string before;
  int64_t size_before = 0;
  int64_t size_after = 0;
};

struct Disk::File : std::enable_shared_from_this<File> {
  int fd = -1;  // of our own
  ino_t number = 0;
  std::string path;  // when it was opened first
  int64_t size = 0;
  bool is_changed = false;  // is in changed_
  std::optional<std::string> held;
  struct stat info{};  // of one that is held, but for its size
  std::vector<Change> changes;
  void Put(int64_t offset, std::string_view bytes);
  void Resize(int64_t to);
  ~File() {
    if (fd >= 0) ::syscall(SYS_close, fd);
  }
};

void Disk::File::Put(int64_t offset, std::string_view bytes) {
  if (held) {
    PutInto(*held, offset, bytes);
  } else {
    ::syscall(SYS_pwrite64, fd, bytes.data(), bytes.size(), offset);
  }
}

void Disk::File::Resize(int64_t to) {
  if (held) {
    held->resize(static_cast<size_t>(to));
  } else {
    ::syscall(SYS_ftruncate, fd, to);
  }
}

struct Disk::Name {
  std::string folder;
  std::function<void()> undo;
};

Disk* TheDisk() { return the_disk; }

void PutInto(std::string& held, int64_t offset, std::string_view bytes) {
  const auto at = static_cast<size_t>(offset);
  if (held.size() < at) held.resize(at);
  const size_t known = std::min(bytes.size(), held.size() - at);
  bytes.copy(held.data() + at, known);
  held.append(bytes.substr(known));
}

bool IsBroken(std::string_view what) {
  static const char* const broken = std::getenv("MUSTER_BREAK");
  return broken != nullptr && broken == what;
}

int RealOpen(const char* path, int flags, mode_t mode) {
  return static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC, mode));
}

void EmptyFolder(const std::string& path) {
  DIR* const dir = ::opendir(path.c_str());
  if (dir == nullptr) return;
  while (const dirent* const entry = ::readdir(dir)) {
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    const std::string child = path + "/" + entry->d_name;
    if (entry->d_type == DT_DIR) {
      EmptyFolder(child);
      ::syscall(SYS_unlinkat, AT_FDCWD, child.c_str(), AT_REMOVEDIR);
    } else {
      ::syscall(SYS_unlinkat, AT_FDCWD, child.c_str(), 0);
    }
  }
  ::closedir(dir);
}

Disk::Disk(std::string root, bool may_lose_power)
    : root_(std::move(root)), may_lose_power_(may_lose_power) {
  if (::syscall(SYS_mkdirat, AT_FDCWD, root_.c_str(), 0700) != 0) EmptyFolder(root_);
  ::syscall(SYS_mkdirat, AT_FDCWD, (root_ + "/aside").c_str(), 0700);
  for (size_t end = root_.find('/', 1);; end = root_.find('/', end + 1)) {
    const std::string path = root_.substr(0, end);
    if (::lstat(path.c_str(), &above_[path]) != 0) GoneWrong("stat " + path);
    if (end == std::string::npos) break;
  }
  the_disk = this;
}

Disk::~Disk() {
  the_disk = nullptr;
  EmptyFolder(root_);
  ::syscall(SYS_unlinkat, AT_FDCWD, root_.c_str(), AT_REMOVEDIR);
}

void Disk::Fill(int64_t left) {
  Trace(fmt::format("the disk is full but for {} bytes", left));
  const int64_t taken = std::max<int64_t>(0, free_ - left);
  others_ += taken;
  free_ -= taken;
}

void Disk::Empty() { free_ += std::exchange(others_, 0); }

int Disk::BeforeChange() {
  Step(kFileOdds);
  return ThisProcess().is_dead ? EIO : 0;
}

int Disk::BeforeData() {
  if (const int failed = BeforeChange(); failed != 0) return failed;
  if (failing_ == 0 || !Chance(failing_)) return 0;
  Trace("the disk fails");
  return EIO;
}

int Disk::BeforeWrite(int fd, int64_t end, size_t) {
  const auto found = files_.find(fd);
  if (found == files_.end()) return 0;
  if (const int failed = BeforeData(); failed != 0) return failed;
  const int64_t more = end - found->second->size;
  return more > free_ ? ENOSPC : 0;
}

void Disk::Opened(int fd, const std::string& path, int flags, bool was_there) {
  const bool is_held = path.ends_with("cluster.db") || path.ends_with("cluster.db-wal");
  if (was_there && !is_held && (flags & O_ACCMODE) == O_RDONLY) return;
  struct stat info{};
  if (::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) return;
  if (!was_there && may_lose_power_) {
    names_.push_back({path.substr(0, path.rfind('/')),
                      [path] { ::syscall(SYS_unlinkat, AT_FDCWD, path.c_str(), 0); }});
  }
  if (is_held) {
    files_[fd] = Hold(info.st_ino, path).shared_from_this();
    files_[fd]->info = info;
    held_by_path_[path] = files_[fd];
    return;
  }
  if ((flags & O_ACCMODE) == O_RDONLY) return;
  // Memory that processes share: nobody hears of what is written to it, and none of it counts
  // after a power cut.
  if (path.ends_with("-shm")) return;
  std::shared_ptr<File> file = was_there ? by_number_[info.st_ino].lock() : nullptr;
  if (!file) {
    file = std::make_shared<File>();
    file->number = info.st_ino;
    file->path = path;
    file->size = info.st_size;
    if (may_lose_power_) file->fd = RealOpen(path.c_str(), O_RDWR);
    by_number_[info.st_ino] = file;
  }
  files_[fd] = std::move(file);
}

Disk::File& Disk::Hold(ino_t number, const std::string& path) {
  std::shared_ptr<File>& file = held_[number];
  if (!file) {
    file = std::make_shared<File>();
    file->number = number;
    file->path = path;
    file->held.emplace().reserve(kUsualBytes);
  }
  return *file;
}

void Disk::Closed(int fd) {
  files_.erase(fd);
  folders_.erase(fd);
}

std::optional<struct stat> Disk::Info(int fd) const {
  const auto found = files_.find(fd);
  if (found == files_.end() || !found->second->held) return std::nullopt;
  struct stat info = found->second->info;
  info.st_size = static_cast<off_t>(found->second->held->size());
  return info;
}

std::optional<struct stat> Disk::Info(std::string_view path) const {
  const auto found = held_by_path_.find(path);
  if (found == held_by_path_.end()) {
    const auto folder = above_.find(path);
    return folder == above_.end() ? std::nullopt : std::optional(folder->second);
  }
  struct stat info = found->second->info;
  info.st_size = static_cast<off_t>(found->second->held->size());
  return info;
}

void Disk::OpenedFolder(int fd, std::string_view path) {
  while (path.ends_with("/.")) path.remove_suffix(2);
  while (path.ends_with("/")) path.remove_suffix(1);
  const bool is_plain = path.find("/.") == path.npos && path.find("//") == path.npos;
  if (is_plain) folders_[fd] = path;
}

std::string Disk::FolderOf(int fd) const {
  const auto found = folders_.find(fd);
  return found == folders_.end() ? "" : found->second;
}

std::string* Disk::Held(int fd) const {
  const auto found = files_.find(fd);
  return found == files_.end() || !found->second->held ? nullptr : &*found->second->held;
}

const std::string* Disk::Held(const struct stat& info) const {
  const auto found = held_.find(info.st_ino);
  return found == held_.end() ? nullptr : &*found->second->held;
}

int64_t Disk::SizeOf(int fd) const {
  const auto found = files_.find(fd);
  return found == files_.end() ? 0 : found->second->size;
}

std::string Disk::Before(int fd, int64_t offset, size_t count) const {
  std::string bytes;
  const auto found = files_.find(fd);
  if (!may_lose_power_ || found == files_.end()) return bytes;
  if (const auto& held = found->second->held) {
    const auto at = static_cast<size_t>(offset);
    return at < held->size() ? held->substr(at, count) : bytes;
  }
  bytes.resize(count);
  const long got = ::syscall(SYS_pread64, found->second->fd, bytes.data(), count, offset);
  bytes.resize(got > 0 ? static_cast<size_t>(got) : 0);
  return bytes;
}

void Disk::Wrote(int fd, int64_t offset, std::string_view bytes, std::string_view before) {
  const auto found = files_.find(fd);
  if (found == files_.end()) return;
  const std::shared_ptr<File>& file = found->second;
  const int64_t size_before = file->size;
  file->size = std::max(file->size, offset + static_cast<int64_t>(bytes.size()));
  free_ -= file->size - size_before;
  if (!may_lose_power_) return;
  file->changes.push_back(
      {offset, std::string(bytes), std::string(before), size_before, file->size});
  if (!std::exchange(file->is_changed, true)) changed_.push_back(file);
}

void Disk::Resized(int fd, int64_t size, std::string_view lost) {
  const auto found = files_.find(fd);
  if (found == files_.end()) return;
  const std::shared_ptr<File>& file = found->second;
  free_ -= size - file->size;
  const int64_t size_before = std::exchange(file->size, size);
  if (!may_lose_power_) return;
  file->changes.push_back({size, "", std::string(lost), size_before, size});
  if (!std::exchange(file->is_changed, true)) changed_.push_back(file);
}

void Disk::Synced(int fd) {
  ++syncs_;
  const auto found = files_.find(fd);
  if (found == files_.end()) return;
  const std::shared_ptr<File> file = found->second;
  if (IsBroken("sync-store") && file->path.find("cluster.db") != std::string::npos) return;
  if (IsBroken("sync-reports") && file->path.find("status.json") != std::string::npos) return;
  file->changes.clear();
  if (std::exchange(file->is_changed, false)) std::erase(changed_, file);
}

void Disk::SyncedFolder(const std::string& path) {
  ++syncs_;
  if (IsBroken("sync-folders")) return;
  size_t durable = 0;
  for (size_t i = 0; i < names_.size(); ++i) {
    if (names_[i].folder == path) durable = i + 1;
  }
  names_.erase(names_.begin(), names_.begin() + static_cast<long>(durable));
}

void Disk::MadeFolder(const std::string& path) {
  if (!may_lose_power_) return;
  names_.push_back({path.substr(0, path.rfind('/')),
                    [path] { ::syscall(SYS_unlinkat, AT_FDCWD, path.c_str(), AT_REMOVEDIR); }});
}

void Disk::RemovedFolder(const std::string& path) {
  if (!may_lose_power_) return;
  names_.push_back({path.substr(0, path.rfind('/')),
                    [path] { ::syscall(SYS_mkdirat, AT_FDCWD, path.c_str(), 0700); }});
}

// Under another name in `aside`; "" where it is not needed, or there is none.
std::string Disk::KeepAside(const std::string& path) {
  struct stat info{};
  if (::lstat(path.c_str(), &info) != 0) return "";
  const std::string* const held = Held(info);
  if (S_ISREG(info.st_mode) && info.st_nlink == 1) {
    free_ += held == nullptr ? info.st_size : static_cast<int64_t>(held->size());
  }
  if (!may_lose_power_ || !S_ISREG(info.st_mode)) return "";
  const std::string kept = fmt::format("{}/aside/{}", root_, ++kept_aside_);
  return Call(SYS_linkat, path.c_str(), kept.c_str()) == 0 ? kept : "";
}

void Disk::Removing(const std::string& path) {
  held_by_path_.erase(path);
  const std::string kept = KeepAside(path);
  if (kept.empty()) return;
  names_.push_back({path.substr(0, path.rfind('/')),
                    [kept, path] { Call(SYS_renameat2, kept.c_str(), path.c_str()); }});
}

void Disk::Renaming(const std::string& from, const std::string& to) {
  for (const std::string& path : {from, to}) held_by_path_.erase(path);
  std::erase_if(folders_, [&from](const auto& open) { return open.second.starts_with(from); });
  const std::string kept = KeepAside(to);
  if (!may_lose_power_) return;
  names_.push_back({to.substr(0, to.rfind('/')), [kept, from, to] {
                      Call(SYS_renameat2, to.c_str(), from.c_str());
                      if (!kept.empty()) Call(SYS_renameat2, kept.c_str(), to.c_str());
                    }});
}

void Disk::Have(const std::string& path, std::string content) {
  const int fd = RealOpen(path.c_str(), O_CREAT | O_RDWR, 0600);
  struct stat info{};
  if (fd < 0 || ::fstat(fd, &info) != 0) GoneWrong("open " + path);
  ::syscall(SYS_close, fd);
  File& file = Hold(info.st_ino, path);
  file.size = static_cast<int64_t>(content.size());
  free_ -= file.size;
  *file.held = std::move(content);
}

void Disk::PowerCut() {
  Trace("power cut");
  held_by_path_.clear();
  // In every third all that could be lost is, in every third nothing.
  const uint64_t mood = Below(3);
  const auto survives = [mood] { return mood == 0 ? false : mood == 1 || Below(2) == 0; };
  size_t names = mood == 0 ? 0 : mood == 1 ? names_.size() : Below(names_.size() + 1);
  for (const auto& file : changed_) {
    for (auto change = file->changes.rbegin(); change != file->changes.rend(); ++change) {
      file->Put(change->offset, change->before);
      file->Resize(change->size_before);
    }
    for (const Change& change : file->changes) {
      if (!survives()) continue;
      size_t count = change.after.size();
      if (count > kSector && Below(4) == 0) count = Below(count / kSector + 1) * kSector;
      if (change.after.empty()) {
        file->Resize(change.size_after);
      } else {
        file->Put(change.offset, std::string_view(change.after).substr(0, count));
      }
    }
    file->changes.clear();
    file->is_changed = false;
    struct stat info{};
    if (file->held) {
      file->size = static_cast<int64_t>(file->held->size());
    } else if (::fstat(file->fd, &info) == 0) {
      file->size = info.st_size;
    }
  }
  changed_.clear();
  while (names_.size() > names) {
    names_.back().undo();
    names_.pop_back();
  }
  names_.clear();
}

}  // namespace simulation
