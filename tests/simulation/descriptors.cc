#include "descriptors.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/inotify.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <map>
#include <utility>
#include <vector>

#include "disk.h"
#include "thread_table.h"

namespace simulation {
namespace {

constexpr int kFirstDescriptor = 100'000;

struct Descriptors {
  std::vector<DescriptionRef> open;  // by number
  std::vector<int> free;             // numbers
  std::map<std::string, Socket*> abstract;
};

Descriptors& descriptors() {
  static auto* const all = new Descriptors;
  return *all;
}

ssize_t Fails(int with) {
  errno = with;
  return -1;
}

}  // namespace

bool IsSimulated(int fd) { return fd >= kFirstDescriptor; }

int Refused(int with) {
  errno = with;
  return -1;
}

int NewDescriptor(DescriptionRef description) {
  Descriptors& all = descriptors();
  if (all.free.empty()) {
    all.free.push_back(static_cast<int>(all.open.size()));
    all.open.emplace_back();
  }
  const int at = all.free.back();
  all.free.pop_back();
  all.open[static_cast<size_t>(at)] = std::move(description);
  return kFirstDescriptor + at;
}

DescriptionRef DescriptionOf(int fd) {
  const Descriptors& all = descriptors();
  const auto at = static_cast<size_t>(fd - kFirstDescriptor);
  return IsSimulated(fd) && at < all.open.size() ? all.open[at] : nullptr;
}

int CloseDescriptor(int fd) {
  Descriptors& all = descriptors();
  const int at = fd - kFirstDescriptor;
  DescriptionRef description = DescriptionOf(fd);
  if (!description) return Refused(EBADF);
  all.open[static_cast<size_t>(at)] = nullptr;
  all.free.push_back(at);
  if (all.free.size() == all.open.size()) {  // each life has the same numbers
    all.open.clear();
    all.free.clear();
  }
  Process& process = ThisProcess();
  if (process.is_dead && process.left_open != nullptr && description->Takes()) {
    process.left_open->push_back(std::move(description));
  }
  return 0;
}

size_t OpenDescriptors() { return descriptors().open.size() - descriptors().free.size(); }

Place Find(int folder, std::string_view path) {
  constexpr std::string_view kOfDescriptors = "/proc/self/fd/";
  Tree& tree = TheDisk()->tree();
  if (path.starts_with(kOfDescriptors)) {
    const std::string_view rest = path.substr(kOfDescriptors.size());
    const auto [end, failed] = std::from_chars(rest.data(), rest.data() + rest.size(), folder);
    if (failed != std::errc()) return {nullptr, "", nullptr, ENOENT};
    path = rest.substr(static_cast<size_t>(end - rest.data()));
  } else if (path.starts_with('/')) {
    return tree.Find(tree.root(), path);
  } else if (folder == AT_FDCWD) {
    const NodeRef own = tree.Find(ThisProcess().folder);
    return own ? tree.Find(own, path) : Place{nullptr, "", nullptr, ENOENT};
  }
  const auto opened = Described<OpenFile>(folder);
  return !opened ? Place{nullptr, "", nullptr, EBADF} : tree.Find(opened->node, path);
}

ssize_t Description::Read(void*, size_t) { return Fails(EINVAL); }
ssize_t Description::Write(const void*, size_t) { return Fails(EINVAL); }

void Description::HasNews() {
  ++news;
  DescriptorsChanged();
}

ssize_t OpenFile::ReadAt(void* into, size_t count, int64_t from) const {
  if (ThisProcess().is_dead) return Fails(EIO);  // so that its threads come to their ends sooner
  if (node->IsFolder()) return Fails(EISDIR);
  return static_cast<ssize_t>(node->Get(from, static_cast<char*>(into), count));
}

ssize_t OpenFile::Read(void* into, size_t count) {
  const ssize_t done = ReadAt(into, count, offset);
  if (done > 0) offset += done;
  return done;
}

ssize_t OpenFile::WriteAt(const void* bytes, size_t count, int64_t to) {
  Disk& disk = *TheDisk();
  if ((flags & O_ACCMODE) == O_RDONLY) return Fails(EBADF);
  const int failed = disk.BeforeWrite(*node, to + static_cast<int64_t>(count));
  if (failed == ENOSPC && disk.free() > 0) {
    // What still fits.
    const int64_t room = node->size() + disk.free() - to;
    if (room <= 0) return Fails(ENOSPC);
    count = static_cast<size_t>(room);
  } else if (failed != 0) {
    return Fails(failed);
  }
  if ((flags & O_APPEND) != 0) to = node->size();
  disk.Write(node, to, {static_cast<const char*>(bytes), count});
  HasChanged();
  return static_cast<ssize_t>(count);
}

ssize_t OpenFile::Write(const void* bytes, size_t count) {
  const bool appends = (flags & O_APPEND) != 0;
  const ssize_t done = WriteAt(bytes, count, appends ? node->size() : offset);
  if (done > 0) offset = appends ? node->size() : offset + done;
  return done;
}

int OpenFile::Resize(int64_t size) {
  if ((flags & O_ACCMODE) == O_RDONLY) return Refused(EBADF);
  Disk& disk = *TheDisk();
  if (const int failed = disk.BeforeWrite(*node, size); failed != 0) return Refused(failed);
  disk.Resize(node, size);
  HasChanged();
  return 0;
}

void OpenFile::HasChanged() const {
  Notify(*node, IN_MODIFY, "");
  if (folder_) Notify(*folder_, IN_MODIFY, name_);
}

int OpenFile::Sync() {
  Disk& disk = *TheDisk();
  if (const int failed = disk.BeforeData(); failed != 0) return Refused(failed);
  if (node->IsFolder()) {
    disk.SyncedFolder(node);
  } else {
    disk.Synced(node, path);
  }
  return 0;
}

int OpenFile::Lock(int operation) {
  if ((operation & LOCK_UN) != 0) {
    Unlock();
    return 0;
  }
  if (node->locked_by != nullptr && node->locked_by != this) return Refused(EWOULDBLOCK);
  node->locked_by = this;
  return 0;
}

void OpenFile::Unlock() {
  if (node->locked_by == this) node->locked_by = nullptr;
}

ssize_t Counter::Read(void* into, size_t count) {
  if (count < sizeof count_) return Fails(EINVAL);
  if (count_ == 0) return Fails(EAGAIN);
  std::memcpy(into, &count_, sizeof count_);
  count_ = 0;
  return sizeof count_;
}

ssize_t Counter::Write(const void* bytes, size_t count) {
  uint64_t more = 0;
  if (count < sizeof more) return Fails(EINVAL);
  std::memcpy(&more, bytes, sizeof more);
  count_ += more;
  HasNews();
  return sizeof more;
}

Socket::~Socket() {
  if (name_) name_->listener = nullptr;
  if (!abstract_.empty()) descriptors().abstract.erase(abstract_);
}

int Socket::Bind(const std::string& path) {
  Disk& disk = *TheDisk();
  if (const int failed = disk.BeforeChange(); failed != 0) return Refused(failed);
  const Place place = Find(AT_FDCWD, path);
  if (place.failed != 0) return Refused(place.failed);
  if (place.node) return Refused(EADDRINUSE);
  name_ = disk.Make(place, S_IFSOCK | 0600);
  name_->listener = this;
  return 0;
}

int Socket::BindAbstract(const std::string& name) {
  if (!descriptors().abstract.emplace(name, this).second) return Refused(EADDRINUSE);
  abstract_ = name;
  return 0;
}

int Socket::Connect(const std::string& path) {
  const Place place = Find(AT_FDCWD, path);
  if (!place.node) return Refused(place.failed != 0 ? place.failed : ENOENT);
  const Socket* const listener = place.node->listener;
  return listener != nullptr && listener->is_listening_ ? 0 : Refused(ECONNREFUSED);
}

}  // namespace simulation
