// The C library's calls about files, in whose place the program's own definitions come. In a life
// they are about the simulated machine's tree, and outside of one they are the system's.
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "descriptors.h"
#include "disk.h"
#include "machine.h"
#include "thread_table.h"

namespace simulation {
namespace {

constexpr mode_t kUmask = 022;
// What the disk takes of its space for a name at least.
constexpr int64_t kSpaceOfName = 4096;

int Open(int folder, const char* path, int flags, mode_t mode) {
  if (!IsLive()) return static_cast<int>(::syscall(SYS_openat, folder, path, flags, mode));
  if (ThisProcess().is_dead) return Refused(EIO);
  Disk& disk = *TheDisk();
  Place place = Find(folder, path);
  const bool was_there = place.node != nullptr;
  if (!was_there) {
    if (place.failed != 0) return Refused(place.failed);
    if ((flags & O_CREAT) == 0) return Refused(ENOENT);
    if (const int failed = disk.BeforeChange(); failed != 0) return Refused(failed);
    if (disk.free() < kSpaceOfName) return Refused(ENOSPC);
    place = Find(folder, path);
    if (place.failed != 0) return Refused(place.failed);
  }
  if (place.node && (flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL)) return Refused(EEXIST);
  if (!place.node) place.node = disk.Make(place, S_IFREG | (mode & ~kUmask));
  const bool is_folder = place.node->IsFolder();
  if ((flags & O_DIRECTORY) != 0 && !is_folder) return Refused(ENOTDIR);
  if (is_folder && (flags & O_ACCMODE) != O_RDONLY) return Refused(EISDIR);
  if (S_ISSOCK(place.node->mode)) return Refused(ENXIO);
  auto opened = std::make_shared<OpenFile>(place, path);
  opened->flags = flags & ~(O_CREAT | O_EXCL | O_TRUNC | O_CLOEXEC);
  if ((flags & O_TRUNC) != 0 && was_there && opened->Resize(0) != 0) return -1;
  return NewDescriptor(std::move(opened));
}

int Rename(int from_folder, const char* from, int to_folder, const char* to, unsigned flags) {
  if (!IsLive()) {
    return static_cast<int>(::syscall(SYS_renameat2, from_folder, from, to_folder, to, flags));
  }
  if (const int failed = TheDisk()->BeforeChange(); failed != 0) return Refused(failed);
  const Place source = Find(from_folder, from), target = Find(to_folder, to);
  if (!source.node || source.name.empty()) return Refused(ENOENT);
  if (target.failed != 0) return Refused(target.failed);
  if (target.node) {
    if (flags != 0) return Refused(EEXIST);
    if (target.node == source.node) return 0;
    if (source.node->IsFolder() && !target.node->IsFolder()) return Refused(ENOTDIR);
    if (!source.node->IsFolder() && target.node->IsFolder()) return Refused(EISDIR);
    if (!target.node->entries.empty()) return Refused(ENOTEMPTY);
  }
  TheDisk()->Rename(source, target);
  return 0;
}

int Remove(int folder, const char* path, int flags) {
  if (!IsLive()) return static_cast<int>(::syscall(SYS_unlinkat, folder, path, flags));
  if (const int failed = TheDisk()->BeforeChange(); failed != 0) return Refused(failed);
  const Place place = Find(folder, path);
  if (!place.node || place.name.empty()) return Refused(place.failed != 0 ? place.failed : ENOENT);
  const bool is_folder = place.node->IsFolder();
  const bool wants_folder = (flags & AT_REMOVEDIR) != 0;
  if (is_folder != wants_folder) return Refused(is_folder ? EISDIR : ENOTDIR);
  if (!place.node->entries.empty()) return Refused(ENOTEMPTY);
  TheDisk()->Remove(place);
  return 0;
}

int MakeFolder(int folder, const char* path, mode_t mode) {
  if (!IsLive()) return static_cast<int>(::syscall(SYS_mkdirat, folder, path, mode));
  if (const int failed = TheDisk()->BeforeChange(); failed != 0) return Refused(failed);
  const Place place = Find(folder, path);
  if (place.failed != 0) return Refused(place.failed);
  if (place.node) return Refused(EEXIST);
  if (TheDisk()->free() < kSpaceOfName) return Refused(ENOSPC);
  TheDisk()->Make(place, S_IFDIR | (mode & ~kUmask));
  return 0;
}

int Link(const char* from, const char* to) {
  if (const int failed = TheDisk()->BeforeChange(); failed != 0) return Refused(failed);
  const Place source = Find(AT_FDCWD, from), target = Find(AT_FDCWD, to);
  if (!source.node) return Refused(ENOENT);
  if (target.failed != 0) return Refused(target.failed);
  if (target.node) return Refused(EEXIST);
  if (source.node->IsFolder()) return Refused(EPERM);
  TheDisk()->Link(source.node, target);
  return 0;
}

int StatAt(int folder, const char* path, struct stat* info, int flags) {
  const bool is_descriptor = (flags & AT_EMPTY_PATH) != 0 && path[0] == 0;
  if (!IsLive() || (is_descriptor && !IsSimulated(folder))) {
    return static_cast<int>(::syscall(SYS_newfstatat, folder, path, info, flags));
  }
  if (!is_descriptor) {
    const Place place = Find(folder, path);
    if (!place.node) return Refused(place.failed != 0 ? place.failed : ENOENT);
    *info = place.node->Info();
    return 0;
  }
  const DescriptionRef description = DescriptionOf(folder);
  if (!description) return Refused(EBADF);
  const auto* const file = dynamic_cast<const OpenFile*>(description.get());
  *info = {};
  if (file != nullptr) *info = file->node->Info();
  return 0;
}

int ChangeMode(const NodeRef& node, mode_t mode) {
  if (!node) return Refused(ENOENT);
  node->mode = (node->mode & S_IFMT) | (mode & 07777);
  return 0;
}

struct statvfs SpaceOn(const Disk& disk) {
  struct statvfs info{};
  info.f_frsize = info.f_bsize = 4096;
  info.f_blocks = Disk::kTotal / 4096;
  info.f_bfree = info.f_bavail = static_cast<fsblkcnt_t>(std::max<int64_t>(disk.free(), 0) / 4096);
  return info;
}

int MakeTemporary(char* pattern, int flags) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz0123456789";
  const size_t size = std::strlen(pattern);
  if (size < 6) return Refused(EINVAL);
  for (int tries = 0; tries < 100; ++tries) {
    for (size_t i = size - 6; i < size; ++i) pattern[i] = kLetters[Below(kLetters.size())];
    const int fd = Open(AT_FDCWD, pattern, O_RDWR | O_CREAT | O_EXCL | flags, 0600);
    if (fd >= 0 || errno != EEXIST) return fd;
  }
  return Refused(EEXIST);
}

// A folder that is being read: its names as they were when it was opened.
struct Listing {
  int fd;
  std::vector<std::pair<std::string, NodeRef>> names;
  size_t next = 0;
  dirent entry{};
};

Listing* ListingOf(DIR* folder) { return reinterpret_cast<Listing*>(folder); }

template <typename Function>
Function* RealCall(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace
}  // namespace simulation

using namespace simulation;

extern "C" {

#define MODE_OF(flags)                                                  \
  mode_t mode = 0;                                                      \
  if (((flags) & O_CREAT) != 0 || ((flags) & O_TMPFILE) == O_TMPFILE) { \
    va_list list;                                                       \
    va_start(list, flags);                                              \
    mode = static_cast<mode_t>(va_arg(list, unsigned));                 \
    va_end(list);                                                       \
  }

int open(const char* path, int flags, ...) {
  MODE_OF(flags)
  return Open(AT_FDCWD, path, flags, mode);
}
int open64(const char* path, int flags, ...) {
  MODE_OF(flags)
  return Open(AT_FDCWD, path, flags, mode);
}
int openat(int folder, const char* path, int flags, ...) {
  MODE_OF(flags)
  return Open(folder, path, flags, mode);
}
int openat64(int folder, const char* path, int flags, ...) {
  MODE_OF(flags)
  return Open(folder, path, flags, mode);
}
int close(int fd) {
  return IsSimulated(fd) ? CloseDescriptor(fd) : static_cast<int>(::syscall(SYS_close, fd));
}

ssize_t read(int fd, void* bytes, size_t count) {
  if (!IsSimulated(fd)) return ::syscall(SYS_read, fd, bytes, count);
  const DescriptionRef description = DescriptionOf(fd);
  return description ? description->Read(bytes, count) : Refused(EBADF);
}
ssize_t write(int fd, const void* bytes, size_t count) {
  if (!IsSimulated(fd)) return ::syscall(SYS_write, fd, bytes, count);
  const DescriptionRef description = DescriptionOf(fd);
  return description ? description->Write(bytes, count) : Refused(EBADF);
}
ssize_t pread(int fd, void* bytes, size_t count, off_t offset) {
  if (!IsSimulated(fd)) return ::syscall(SYS_pread64, fd, bytes, count, offset);
  const auto file = Described<OpenFile>(fd);
  return file ? file->ReadAt(bytes, count, offset) : Refused(EBADF);
}
ssize_t pread64(int fd, void* bytes, size_t count, off64_t offset) {
  return pread(fd, bytes, count, offset);
}
ssize_t pwrite(int fd, const void* bytes, size_t count, off_t offset) {
  if (!IsSimulated(fd)) return ::syscall(SYS_pwrite64, fd, bytes, count, offset);
  const auto file = Described<OpenFile>(fd);
  return file ? file->WriteAt(bytes, count, offset) : Refused(EBADF);
}
ssize_t pwrite64(int fd, const void* bytes, size_t count, off64_t offset) {
  return pwrite(fd, bytes, count, offset);
}
off_t lseek(int fd, off_t offset, int from) noexcept {
  if (!IsSimulated(fd)) return ::syscall(SYS_lseek, fd, offset, from);
  const auto file = Described<OpenFile>(fd);
  if (!file) return Refused(EBADF);
  const int64_t size = file->node->size();
  if (from == SEEK_DATA || from == SEEK_HOLE) {  // nobody makes holes
    if (offset >= size) return Refused(ENXIO);
    return file->offset = from == SEEK_DATA ? offset : size;
  }
  return file->offset = offset + (from == SEEK_END ? size : from == SEEK_CUR ? file->offset : 0);
}
off64_t lseek64(int fd, off64_t offset, int from) noexcept { return lseek(fd, offset, from); }

int ftruncate(int fd, off_t size) noexcept {
  if (!IsSimulated(fd)) return static_cast<int>(::syscall(SYS_ftruncate, fd, size));
  const auto file = Described<OpenFile>(fd);
  return file ? file->Resize(size) : Refused(EBADF);
}
int ftruncate64(int fd, off64_t size) noexcept { return ftruncate(fd, size); }
int truncate(const char* path, off_t size) noexcept {
  const int fd = Open(AT_FDCWD, path, O_WRONLY | O_CLOEXEC, 0);
  if (fd < 0) return -1;
  const int done = ftruncate(fd, size);
  const int failed = errno;
  close(fd);
  errno = failed;
  return done;
}
// Without the memory that it would take.
int posix_fallocate(int fd, off_t offset, off_t length) {
  struct stat info{};
  if (::fstat(fd, &info) != 0) return errno;
  if (offset + length <= info.st_size) return 0;
  return ftruncate(fd, offset + length) == 0 ? 0 : errno;
}
int fallocate(int fd, int mode, off_t offset, off_t length) {
  if (!IsSimulated(fd)) {
    return static_cast<int>(::syscall(SYS_fallocate, fd, mode, offset, length));
  }
  return Refused(EOPNOTSUPP);
}
int fsync(int fd) {
  if (!IsSimulated(fd)) return static_cast<int>(::syscall(SYS_fsync, fd));
  const auto file = Described<OpenFile>(fd);
  return file ? file->Sync() : Refused(EINVAL);
}
int fdatasync(int fd) {
  return IsSimulated(fd) ? fsync(fd) : static_cast<int>(::syscall(SYS_fdatasync, fd));
}
// Then contents are read and written.
ssize_t copy_file_range(int from, off64_t* from_at, int to, off64_t* to_at, size_t count,
                        unsigned flags) {
  if (IsSimulated(to)) return Refused(ENOSYS);
  return ::syscall(SYS_copy_file_range, from, from_at, to, to_at, count, flags);
}
int ioctl(int fd, unsigned long request, ...) noexcept {
  va_list list;
  va_start(list, request);
  const long argument = va_arg(list, long);
  va_end(list);
  if (!IsSimulated(fd)) return static_cast<int>(::syscall(SYS_ioctl, fd, request, argument));
  return request == FIONBIO ? 0 : Refused(ENOTTY);
}

int rename(const char* from, const char* to) noexcept {
  return Rename(AT_FDCWD, from, AT_FDCWD, to, 0);
}
int renameat2(int from_folder, const char* from, int to_folder, const char* to,
              unsigned flags) noexcept {
  return Rename(from_folder, from, to_folder, to, flags);
}
int link(const char* from, const char* to) noexcept {
  return IsLive() ? Link(from, to) : static_cast<int>(::syscall(SYS_link, from, to));
}
int unlink(const char* path) noexcept { return Remove(AT_FDCWD, path, 0); }
int unlinkat(int folder, const char* path, int flags) noexcept {
  return Remove(folder, path, flags);
}
int rmdir(const char* path) noexcept { return Remove(AT_FDCWD, path, AT_REMOVEDIR); }
int mkdir(const char* path, mode_t mode) noexcept { return MakeFolder(AT_FDCWD, path, mode); }
int mkostemp(char* pattern, int flags) { return MakeTemporary(pattern, flags); }
int mkstemp(char* pattern) { return MakeTemporary(pattern, 0); }

int statvfs(const char* path, struct statvfs* info) noexcept {
  static auto* const real = RealCall<int(const char*, struct statvfs*)>("statvfs");
  if (!IsLive()) return real(path, info);
  *info = SpaceOn(*TheDisk());
  return 0;
}
int fstatvfs(int fd, struct statvfs* info) noexcept {
  static auto* const real = RealCall<int(int, struct statvfs*)>("fstatvfs");
  if (!IsSimulated(fd)) return real(fd, info);
  *info = SpaceOn(*TheDisk());
  return 0;
}

int fstatat(int folder, const char* path, struct stat* info, int flags) noexcept {
  return StatAt(folder, path, info, flags);
}
int stat(const char* path, struct stat* info) noexcept { return StatAt(AT_FDCWD, path, info, 0); }
int lstat(const char* path, struct stat* info) noexcept {
  return StatAt(AT_FDCWD, path, info, AT_SYMLINK_NOFOLLOW);
}
int fstat(int fd, struct stat* info) noexcept { return StatAt(fd, "", info, AT_EMPTY_PATH); }
// off_t and off64_t are the same here.
int fstatat64(int folder, const char* path, struct stat64* info, int flags) noexcept {
  return fstatat(folder, path, reinterpret_cast<struct stat*>(info), flags);
}
int stat64(const char* path, struct stat64* info) noexcept {
  return stat(path, reinterpret_cast<struct stat*>(info));
}
int lstat64(const char* path, struct stat64* info) noexcept {
  return lstat(path, reinterpret_cast<struct stat*>(info));
}
int fstat64(int fd, struct stat64* info) noexcept {
  return fstat(fd, reinterpret_cast<struct stat*>(info));
}
int access(const char* path, int mode) noexcept {
  if (!IsLive()) return static_cast<int>(::syscall(SYS_access, path, mode));
  const Place place = Find(AT_FDCWD, path);
  if (!place.node) return Refused(place.failed != 0 ? place.failed : ENOENT);
  return (mode & X_OK) == 0 || (place.node->mode & 0111) != 0 ? 0 : Refused(EACCES);
}
int chmod(const char* path, mode_t mode) noexcept {
  if (!IsLive()) return static_cast<int>(::syscall(SYS_chmod, path, mode));
  return ChangeMode(Find(AT_FDCWD, path).node, mode);
}
int fchmodat(int folder, const char* path, mode_t mode, int flags) noexcept {
  if (!IsLive()) return static_cast<int>(::syscall(SYS_fchmodat, folder, path, mode, flags));
  return ChangeMode(Find(folder, path).node, mode);
}
int fchmod(int fd, mode_t mode) noexcept {
  if (!IsSimulated(fd)) return static_cast<int>(::syscall(SYS_fchmod, fd, mode));
  const auto file = Described<OpenFile>(fd);
  return file ? ChangeMode(file->node, mode) : 0;
}
int fchown(int fd, uid_t user, gid_t group) noexcept {
  return IsSimulated(fd) ? 0 : static_cast<int>(::syscall(SYS_fchown, fd, user, group));
}
// There are no links of that kind.
ssize_t readlink(const char* path, char* into, size_t size) noexcept {
  if (!IsLive()) return ::syscall(SYS_readlink, path, into, size);
  return Refused(Find(AT_FDCWD, path).node ? EINVAL : ENOENT);
}
char* realpath(const char* path, char* into) noexcept {
  static auto* const real = RealCall<char*(const char*, char*)>("realpath");
  if (!IsLive()) return real(path, into);
  if (!Find(AT_FDCWD, path).node) {
    errno = ENOENT;
    return nullptr;
  }
  return into == nullptr ? ::strdup(path) : std::strcpy(into, path);
}

DIR* fdopendir(int fd) {
  static auto* const real = RealCall<DIR*(int)>("fdopendir");
  if (!IsLive()) return real(fd);
  const auto folder = Described<OpenFile>(fd);
  if (!folder || !folder->node->IsFolder()) {
    errno = ENOTDIR;
    return nullptr;
  }
  const auto& names = folder->node->entries;
  return reinterpret_cast<DIR*>(new Listing{fd, {names.begin(), names.end()}});
}
DIR* opendir(const char* path) {
  static auto* const real = RealCall<DIR*(const char*)>("opendir");
  if (!IsLive()) return real(path);
  const int fd = Open(AT_FDCWD, path, O_RDONLY | O_DIRECTORY, 0);
  return fd < 0 ? nullptr : fdopendir(fd);
}
dirent* readdir(DIR* folder) {
  static auto* const real = RealCall<dirent*(DIR*)>("readdir");
  if (!IsLive()) return real(folder);
  Listing& listing = *ListingOf(folder);
  if (listing.next == listing.names.size()) return nullptr;
  const auto& [name, node] = listing.names[listing.next++];
  listing.entry.d_ino = node->number;
  listing.entry.d_type = static_cast<unsigned char>(IFTODT(node->mode));
  name.copy(listing.entry.d_name, sizeof listing.entry.d_name - 1);
  listing.entry.d_name[name.size()] = 0;
  return &listing.entry;
}
dirent64* readdir64(DIR* folder) { return reinterpret_cast<dirent64*>(readdir(folder)); }
int dirfd(DIR* folder) noexcept {
  static auto* const real = RealCall<int(DIR*)>("dirfd");
  return IsLive() ? ListingOf(folder)->fd : real(folder);
}
int closedir(DIR* folder) {
  static auto* const real = RealCall<int(DIR*)>("closedir");
  if (!IsLive()) return real(folder);
  const std::unique_ptr<Listing> listing(ListingOf(folder));
  return close(listing->fd);
}

pid_t getpid() noexcept {
  return IsLive() ? ThisProcess().pid : static_cast<pid_t>(::syscall(SYS_getpid));
}

int flock(int fd, int operation) noexcept {
  if (!IsSimulated(fd)) return static_cast<int>(::syscall(SYS_flock, fd, operation));
  while (true) {
    CloseWhatIsDue();
    const auto file = Described<OpenFile>(fd);
    if (!file) return Refused(EBADF);
    const int done = file->Lock(operation);
    if (done == 0 || errno != EWOULDBLOCK || (operation & LOCK_NB) != 0) return done;
    SleepFor(1'000'000);
  }
}

// Locks that belong to a process, which are SQLite's, stand in nobody's way within one.
int Control(int fd, int command, long argument) {
  if (!IsSimulated(fd)) return static_cast<int>(::syscall(SYS_fcntl, fd, command, argument));
  const DescriptionRef description = DescriptionOf(fd);
  if (!description) return Refused(EBADF);
  switch (command) {
    case F_GETLK:
      reinterpret_cast<struct flock*>(argument)->l_type = F_UNLCK;
      return 0;
    case F_DUPFD:
    case F_DUPFD_CLOEXEC:
      return NewDescriptor(description);
    case F_GETFL:
      return description->flags;
    case F_SETFL:
      description->flags = static_cast<int>(argument);
      return 0;
    default:
      return 0;
  }
}
int fcntl(int fd, int command, ...) {
  va_list list;
  va_start(list, command);
  const long argument = va_arg(list, long);
  va_end(list);
  return Control(fd, command, argument);
}
int fcntl64(int fd, int command, ...) {
  va_list list;
  va_start(list, command);
  const long argument = va_arg(list, long);
  va_end(list);
  return Control(fd, command, argument);
}

}  // extern "C"
