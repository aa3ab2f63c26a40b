// The C library's calls that change files, in whose place the program's own definitions come. What
// lies outside of the simulated disk is the system's.
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bitset>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <string>

#include "disk.h"
#include "machine.h"
#include "thread_table.h"

namespace simulation {
namespace {

Disk* LiveDisk() { return IsLive() ? TheDisk() : nullptr; }

// Of a path that is on the simulated disk, the whole; "" of another.
std::string OnDisk(int folder, const char* path) {
  Disk* const disk = LiveDisk();
  if (disk == nullptr) return "";
  if (path[0] != '/' && folder == AT_FDCWD) {
    const std::string& own = ThisProcess().folder;
    return own.empty() ? "" : own + "/" + path;
  }
  if (path[0] == '/') return disk->Has(path) ? path : "";
  if (const std::string open = disk->FolderOf(folder); !open.empty()) return open + "/" + path;
  char name[64], target[512];
  std::snprintf(name, sizeof name, "/proc/self/fd/%d", folder);
  const long length = ::syscall(SYS_readlinkat, AT_FDCWD, name, target, sizeof target);
  if (length <= 0) return "";
  const std::string whole = std::string(target, static_cast<size_t>(length)) + "/" + path;
  return disk->Has(whole) ? whole : "";
}

// What the simulated machine says of its processes: a folder of its disk.
std::string InProc(std::string_view path) {
  const Disk* const disk = LiveDisk();
  const bool is_asked =
      disk != nullptr && path.starts_with("/proc") && !path.starts_with("/proc/self");
  return is_asked ? disk->root() + std::string(path) : "";
}

// Descriptors by which others find something taken: locked files, and sockets that have a name.
std::bitset<4096> taking;

void Takes(int fd) {
  if (IsLive() && fd >= 0 && static_cast<size_t>(fd) < taking.size()) {
    taking.set(static_cast<size_t>(fd));
  }
}

// Whether the kernel closes it later.
bool LeavesOpen(int fd) {
  if (fd < 0 || static_cast<size_t>(fd) >= taking.size()) return false;
  const auto at = static_cast<size_t>(fd);
  if (!taking.test(at)) return false;
  taking.reset(at);
  if (!IsLive() || !ThisProcess().is_dead || ThisProcess().left_open == nullptr) return false;
  ThisProcess().left_open->push_back(fd);
  return true;
}

int Refused(int with) {
  errno = with;
  return -1;
}

int Open(int folder, const char* path, int flags, mode_t mode) {
  const std::string ours = OnDisk(folder, path);
  if (ours.empty()) {
    if (const std::string there = InProc(path); !there.empty())
      return RealOpen(there.c_str(), flags);
    // SQLite's dice (it makes do with the time and the process's number).
    if (IsLive() && std::string_view(path) == "/dev/urandom") return Refused(ENOENT);
    return static_cast<int>(::syscall(SYS_openat, folder, path, flags, mode));
  }
  if (ThisProcess().is_dead) return Refused(EIO);
  Disk& disk = *TheDisk();
  const bool may_change = (flags & (O_CREAT | O_TRUNC)) != 0;
  struct stat info{};
  const bool was_there = !may_change || ::lstat(ours.c_str(), &info) == 0;
  if (may_change && !was_there) {
    if (const int failed = disk.BeforeChange(); failed != 0) return Refused(failed);
    if (disk.free() < 4096) return Refused(ENOSPC);
  }
  const int fd =
      static_cast<int>(::syscall(SYS_openat, AT_FDCWD, ours.c_str(), flags & ~O_TRUNC, mode));
  if (fd < 0) return fd;
  if ((flags & O_DIRECTORY) != 0) {
    disk.OpenedFolder(fd, ours);
    return fd;
  }
  disk.Opened(fd, ours, flags, was_there);
  if ((flags & O_TRUNC) != 0 && was_there && ::ftruncate(fd, 0) != 0) {
    const int failed = errno;
    ::close(fd);
    return Refused(failed);
  }
  return fd;
}

ssize_t Write(int fd, const void* bytes, size_t count, int64_t offset, bool is_at) {
  Disk* const disk = LiveDisk();
  if (disk == nullptr || !disk->IsFile(fd)) {
    if (IsLive()) DescriptorsChanged();
    return is_at ? ::syscall(SYS_pwrite64, fd, bytes, count, offset)
                 : ::syscall(SYS_write, fd, bytes, count);
  }
  if (!is_at) {
    const bool appends = (::syscall(SYS_fcntl, fd, F_GETFL, 0) & O_APPEND) != 0;
    offset = appends ? disk->SizeOf(fd) : ::syscall(SYS_lseek, fd, 0, SEEK_CUR);
  }
  const int failed = disk->BeforeWrite(fd, offset + static_cast<int64_t>(count), count);
  if (failed == ENOSPC && disk->free() > 0) {
    // What still fits.
    const int64_t room = disk->SizeOf(fd) + disk->free() - offset;
    if (room <= 0) return Refused(ENOSPC);
    count = static_cast<size_t>(room);
  } else if (failed != 0) {
    return Refused(failed);
  }
  const std::string before = disk->Before(fd, offset, count);
  const std::string_view written(static_cast<const char*>(bytes), count);
  if (std::string* const held = disk->Held(fd); held != nullptr) {
    PutInto(*held, offset, written);
    disk->Wrote(fd, offset, written, before);
    return static_cast<ssize_t>(count);
  }
  const ssize_t done = is_at ? ::syscall(SYS_pwrite64, fd, bytes, count, offset)
                             : ::syscall(SYS_write, fd, bytes, count);
  if (done > 0) {
    disk->Wrote(fd, offset, written.substr(0, static_cast<size_t>(done)), before);
  }
  return done;
}

int Resize(int fd, int64_t size) {
  Disk* const disk = LiveDisk();
  if (disk == nullptr || !disk->IsFile(fd)) {
    return static_cast<int>(::syscall(SYS_ftruncate, fd, size));
  }
  if (const int failed = disk->BeforeWrite(fd, size, 0); failed != 0) return Refused(failed);
  const int64_t shorter = disk->SizeOf(fd) - size;
  const std::string lost = shorter > 0 ? disk->Before(fd, size, static_cast<size_t>(shorter)) : "";
  if (std::string* const held = disk->Held(fd); held != nullptr) {
    held->resize(static_cast<size_t>(size));
    disk->Resized(fd, size, lost);
    return 0;
  }
  const int done = static_cast<int>(::syscall(SYS_ftruncate, fd, size));
  if (done == 0) disk->Resized(fd, size, lost);
  return done;
}

ssize_t Read(int fd, void* bytes, size_t count, int64_t offset) {
  const Disk* const disk = LiveDisk();
  const std::string* const held = disk == nullptr ? nullptr : disk->Held(fd);
  if (held == nullptr) return ::syscall(SYS_pread64, fd, bytes, count, offset);
  if (ThisProcess().is_dead) return Refused(EIO);  // so that its threads come to their ends sooner
  const auto at = static_cast<size_t>(offset);
  return at < held->size() ? static_cast<ssize_t>(held->copy(static_cast<char*>(bytes), count, at))
                           : 0;
}

// What a system call says of a file, whose content may be held.
int Say(int done, struct stat* info) {
  const Disk* const disk = LiveDisk();
  const std::string* const held = done != 0 || disk == nullptr ? nullptr : disk->Held(*info);
  if (held != nullptr) info->st_size = static_cast<off_t>(held->size());
  return done;
}

int Sync(int fd, long call) {
  Disk* const disk = LiveDisk();
  if (disk == nullptr) return static_cast<int>(::syscall(call, fd));
  if (const int failed = disk->BeforeData(); failed != 0) return Refused(failed);
  if (disk->IsFile(fd)) {
    disk->Synced(fd);
    return 0;
  }
  const std::string folder = OnDisk(fd, ".");
  if (!folder.empty()) disk->SyncedFolder(folder.substr(0, folder.size() - 2));
  return 0;
}

int Rename(int from_folder, const char* from, int to_folder, const char* to, unsigned flags) {
  const std::string our_from = OnDisk(from_folder, from), our_to = OnDisk(to_folder, to);
  if (!our_from.empty() && !our_to.empty()) {
    if (const int failed = TheDisk()->BeforeChange(); failed != 0) return Refused(failed);
    struct stat info{};
    if (flags != 0 && ::lstat(our_to.c_str(), &info) == 0) return Refused(EEXIST);
    if (::lstat(our_from.c_str(), &info) != 0) return Refused(ENOENT);
    TheDisk()->Renaming(our_from, our_to);
    DescriptorsChanged();
    return static_cast<int>(
        ::syscall(SYS_renameat2, AT_FDCWD, our_from.c_str(), AT_FDCWD, our_to.c_str(), flags));
  }
  return static_cast<int>(::syscall(SYS_renameat2, from_folder, from, to_folder, to, flags));
}

int Remove(int folder, const char* path, int flags) {
  const std::string ours = OnDisk(folder, path);
  if (ours.empty()) return static_cast<int>(::syscall(SYS_unlinkat, folder, path, flags));
  if (const int failed = TheDisk()->BeforeChange(); failed != 0) return Refused(failed);
  if ((flags & AT_REMOVEDIR) == 0) {
    struct stat info{};
    if (::lstat(ours.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) return Refused(EISDIR);
    TheDisk()->Removing(ours);
  }
  DescriptorsChanged();
  const int done = static_cast<int>(::syscall(SYS_unlinkat, AT_FDCWD, ours.c_str(), flags));
  if (done == 0 && (flags & AT_REMOVEDIR) != 0) TheDisk()->RemovedFolder(ours);
  return done;
}

int MakeFolder(int folder, const char* path, mode_t mode) {
  const std::string ours = OnDisk(folder, path);
  if (!ours.empty()) {
    if (const int failed = TheDisk()->BeforeChange(); failed != 0) return Refused(failed);
    if (TheDisk()->free() < 4096) {
      struct stat info{};
      if (::lstat(ours.c_str(), &info) != 0) return Refused(ENOSPC);
    }
  }
  if (ours.empty()) return static_cast<int>(::syscall(SYS_mkdirat, folder, path, mode));
  const int done = static_cast<int>(::syscall(SYS_mkdirat, AT_FDCWD, ours.c_str(), mode));
  if (done == 0) TheDisk()->MadeFolder(ours);
  return done;
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
  std::string path(pattern);
  if (path.size() < 6) return Refused(EINVAL);
  for (int tries = 0; tries < 100; ++tries) {
    for (size_t i = path.size() - 6; i < path.size(); ++i) {
      path[i] = pattern[i] = kLetters[Below(kLetters.size())];
    }
    const int fd = Open(AT_FDCWD, path.c_str(), O_RDWR | O_CREAT | O_EXCL | flags, 0600);
    if (fd >= 0 || errno != EEXIST) return fd;
  }
  return Refused(EEXIST);
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
  if (Disk* const disk = TheDisk(); disk != nullptr) disk->Closed(fd);
  if (IsLive()) DescriptorsChanged();
  return KeepInotify(fd) || LeavesOpen(fd) ? 0 : static_cast<int>(::syscall(SYS_close, fd));
}
ssize_t write(int fd, const void* bytes, size_t count) { return Write(fd, bytes, count, 0, false); }
ssize_t pwrite(int fd, const void* bytes, size_t count, off_t offset) {
  return Write(fd, bytes, count, offset, true);
}
ssize_t pwrite64(int fd, const void* bytes, size_t count, off64_t offset) {
  return Write(fd, bytes, count, offset, true);
}
ssize_t pread(int fd, void* bytes, size_t count, off_t offset) {
  return Read(fd, bytes, count, offset);
}
ssize_t pread64(int fd, void* bytes, size_t count, off64_t offset) {
  return Read(fd, bytes, count, offset);
}
int ftruncate(int fd, off_t size) noexcept { return Resize(fd, size); }
int ftruncate64(int fd, off64_t size) noexcept { return Resize(fd, size); }
int truncate(const char* path, off_t size) noexcept {
  const int fd = Open(AT_FDCWD, path, O_WRONLY | O_CLOEXEC, 0);
  if (fd < 0) return -1;
  const int done = Resize(fd, size);
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
  return Resize(fd, offset + length) == 0 ? 0 : errno;
}
int fsync(int fd) { return Sync(fd, SYS_fsync); }
int fdatasync(int fd) { return Sync(fd, SYS_fdatasync); }
int rename(const char* from, const char* to) noexcept {
  return Rename(AT_FDCWD, from, AT_FDCWD, to, 0);
}
int renameat2(int from_folder, const char* from, int to_folder, const char* to,
              unsigned flags) noexcept {
  return Rename(from_folder, from, to_folder, to, flags);
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
  using Function = int(const char*, struct statvfs*);
  static auto* const real = reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, "statvfs"));
  const Disk* const disk = LiveDisk();
  if (disk == nullptr || !disk->Has(path)) return real(path, info);
  *info = SpaceOn(*disk);
  return 0;
}
int fstatvfs(int fd, struct statvfs* info) noexcept {
  using Function = int(int, struct statvfs*);
  static auto* const real = reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, "fstatvfs"));
  const Disk* const disk = LiveDisk();
  if (disk == nullptr || !disk->IsFile(fd)) return real(fd, info);
  *info = SpaceOn(*disk);
  return 0;
}

// A machine without Python: nothing is asked of a real one.
int stat(const char* path, struct stat* info) noexcept {
  if (IsLive() && std::string_view(path).starts_with("/usr/bin/python")) return Refused(ENOENT);
  if (const Disk* const disk = LiveDisk(); disk != nullptr) {
    if (const auto known = disk->Info(path)) return *info = *known, 0;
  }
  const std::string ours = path[0] == '/' ? "" : OnDisk(AT_FDCWD, path);
  return Say(static_cast<int>(
                 ::syscall(SYS_newfstatat, AT_FDCWD, ours.empty() ? path : ours.c_str(), info, 0)),
             info);
}
// SQLite's: off_t and off64_t are the same here.
int stat64(const char* path, struct stat64* info) noexcept {
  return stat(path, reinterpret_cast<struct stat*>(info));
}
// SQLite's, of every folder above its file.
int lstat(const char* path, struct stat* info) noexcept {
  if (const Disk* const disk = LiveDisk(); disk != nullptr) {
    if (const auto known = disk->Info(path)) return *info = *known, 0;
  }
  return Say(static_cast<int>(::syscall(SYS_newfstatat, AT_FDCWD, path, info, AT_SYMLINK_NOFOLLOW)),
             info);
}
int lstat64(const char* path, struct stat64* info) noexcept {
  return lstat(path, reinterpret_cast<struct stat*>(info));
}
int fstat(int fd, struct stat* info) noexcept {
  if (const Disk* const disk = LiveDisk(); disk != nullptr) {
    if (const auto known = disk->Info(fd)) return *info = *known, 0;
  }
  return Say(static_cast<int>(::syscall(SYS_newfstatat, fd, "", info, AT_EMPTY_PATH)), info);
}
int fstat64(int fd, struct stat64* info) noexcept {
  return fstat(fd, reinterpret_cast<struct stat*>(info));
}

DIR* opendir(const char* path) {
  using Function = DIR*(const char*);
  static auto* const real = reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, "opendir"));
  const std::string there = InProc(path);
  return real(there.empty() ? path : there.c_str());
}
int closedir(DIR* folder) {
  using Function = int(DIR*);
  static auto* const real = reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, "closedir"));
  if (Disk* const disk = TheDisk(); disk != nullptr) disk->Closed(::dirfd(folder));
  return real(folder);
}
pid_t getpid() noexcept {
  return IsLive() ? ThisProcess().pid : static_cast<pid_t>(::syscall(SYS_getpid));
}

// Nobody waits in the kernel for another thread of this process.
int flock(int fd, int operation) noexcept {
  while (true) {
    if (IsLive()) CloseWhatIsDue();
    const int done = static_cast<int>(::syscall(SYS_flock, fd, operation | LOCK_NB));
    if (done == 0) Takes(fd);
    if (done == 0 || errno != EWOULDBLOCK || (operation & LOCK_NB) != 0 || !IsLive()) return done;
    SleepFor(1'000'000);
  }
}

// Locks that belong to a process, which are SQLite's, stand in nobody's way within one.
int Control(int fd, int command, long argument) {
  if (IsLive() && (command == F_SETLK || command == F_SETLKW)) return 0;
  if (IsLive() && command == F_GETLK) {
    reinterpret_cast<struct flock*>(argument)->l_type = F_UNLCK;
    return 0;
  }
  return static_cast<int>(::syscall(SYS_fcntl, fd, command, argument));
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

// Ports of this machine are nobody's: whether one is free here must not depend on who runs beside.
// Nothing but this is asked of such a socket, of which one of each family is enough.
int socket(int family, int type, int protocol) noexcept {
  if (!IsLive() || (family != AF_INET && family != AF_INET6)) {
    return static_cast<int>(::syscall(SYS_socket, family, type, protocol));
  }
  static const long kept[] = {::syscall(SYS_socket, AF_INET, type, protocol),
                              ::syscall(SYS_socket, AF_INET6, type, protocol)};
  const auto one = static_cast<int>(kept[family == AF_INET ? 0 : 1]);
  return static_cast<int>(::syscall(SYS_fcntl, one, F_DUPFD_CLOEXEC, 0));
}
int bind(int fd, const sockaddr* address, socklen_t length) noexcept {
  const bool is_port = address->sa_family == AF_INET || address->sa_family == AF_INET6;
  if (IsLive() && is_port) return 0;
  if (IsLive()) CloseWhatIsDue();
  const int done = static_cast<int>(::syscall(SYS_bind, fd, address, length));
  if (done == 0) Takes(fd);
  return done;
}
int connect(int fd, const sockaddr* address, socklen_t length) {
  if (IsLive()) CloseWhatIsDue();
  return static_cast<int>(::syscall(SYS_connect, fd, address, length));
}

}  // extern "C"
