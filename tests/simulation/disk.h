// The disk of a simulated machine: real files in a folder of this machine's memory, behind the
// program's own open, write, fsync, rename ... (libc_files.cc). It knows what was synchronised, so
// that a power cut can take away the rest; it can be full, or fail; and a process that is dead
// changes nothing on it any more. What is in the store's files, which most calls are about, is held
// here: of them the folder has the names only.
//
// After a power cut:
//   of a file    what fsync or fdatasync of it covered is there; each later write is there, or not,
//                or a part of it, in any combination
//   of names     (made, renamed, removed) those before the last fsync of their folder, or of a
//   later
//                name's folder, are as they were made; of the later ones a part, in their order
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace simulation {

class Disk {
 public:
  // `root` is emptied, and removed at the end. Without `may_lose_power` nothing is kept for
  // PowerCut, which costs time.
  Disk(std::string root, bool may_lose_power);
  ~Disk();
  Disk(const Disk&) = delete;
  Disk& operator=(const Disk&) = delete;

  const std::string& root() const { return root_; }
  bool Has(std::string_view path) const { return path.starts_with(root_); }

  // In bytes; kept by every change of a file's size.
  int64_t free() const { return free_; }
  // Somebody else takes all but `left`, or gives it back.
  void Fill(int64_t left);
  void Empty();
  static constexpr int64_t kTotal = 64 << 20;
  // How many of a thousand writes and fsyncs fail with EIO.
  void SetFailing(unsigned per_thousand) { failing_ = per_thousand; }
  bool IsInTrouble() const { return failing_ > 0 || others_ > 0; }

  // A file of the store that was there before the life began, and is on the disk for good.
  void Have(const std::string& path, std::string content);

  void PowerCut();
  // Since the life began.
  uint64_t syncs() const { return syncs_; }

  // libc_files.cc reports calls that are about to be made, or have been made. Each Before... is a
  // point at which the process may be killed; it returns the errno that the call fails with, or 0.
  int BeforeChange();
  int BeforeData();
  int BeforeWrite(int fd, int64_t end, size_t count);
  void Opened(int fd, const std::string& path, int flags, bool was_there);
  void OpenedFolder(int fd, std::string_view path);
  void Closed(int fd);
  // Of a file whose content is held; nullptr of another.
  std::string* Held(int fd) const;
  const std::string* Held(const struct stat& info) const;
  // What stat says of a file whose content is held, by a descriptor or a path under which it was
  // opened and is still; and of this disk's folder and those above it. Nullopt of all others.
  std::optional<struct stat> Info(int fd) const;
  std::optional<struct stat> Info(std::string_view path) const;
  // The path of a folder that was opened as one; "" of others, and where the kernel knows better.
  std::string FolderOf(int fd) const;
  bool IsFile(int fd) const { return files_.contains(fd); }
  void Wrote(int fd, int64_t offset, std::string_view bytes, std::string_view before);
  void Resized(int fd, int64_t size, std::string_view lost);
  std::string Before(int fd, int64_t offset, size_t count) const;
  int64_t SizeOf(int fd) const;
  void Synced(int fd);
  void SyncedFolder(const std::string& path);
  void MadeFolder(const std::string& path);
  void RemovedFolder(const std::string& path);
  // Before the file goes: keeps it, where it may have to come back.
  void Removing(const std::string& path);
  void Renaming(const std::string& from, const std::string& to);

 private:
  struct File;
  struct Change;  // of a file's content
  struct Name;    // made, renamed or removed

  // The file of that number, which is one of those whose content is held.
  File& Hold(ino_t number, const std::string& path);
  std::string KeepAside(const std::string& path);
  void ForgetFile(const std::shared_ptr<File>& file);

  const std::string root_;
  const bool may_lose_power_;
  int64_t free_ = kTotal;
  int64_t others_ = 0;  // have taken so much
  unsigned failing_ = 0;
  uint64_t syncs_ = 0;
  uint64_t kept_aside_ = 0;
  std::map<int, std::shared_ptr<File>> files_;  // open for writing
  std::map<ino_t, std::weak_ptr<File>> by_number_;
  std::map<ino_t, std::shared_ptr<File>> held_;
  std::map<std::string, std::shared_ptr<File>, std::less<>> held_by_path_;  // since it was opened
  std::map<std::string, struct stat, std::less<>> above_;                   // and the root
  std::map<int, std::string> folders_;                                      // open
  std::vector<std::shared_ptr<File>> changed_;  // hold changes that are not durable
  std::vector<Name> names_;                     // that are not durable
};

// Of the life that is under way; nullptr before there is one.
Disk* TheDisk();

// A fault of the product that is put in its place here, $MUSTER_BREAK: the same life as if a call
// were missing in it. "sync-store", "sync-folders", "sync-reports", "write-ids", "submit-at-once".
bool IsBroken(std::string_view what);

// A real path, whatever the simulation says of it.
int RealOpen(const char* path, int flags, mode_t mode = 0);
void EmptyFolder(const std::string& path);
// Whether it is an inotify instance, which then is not to be closed (libc_inotify.cc).
bool KeepInotify(int fd);
// As pwrite does.
void PutInto(std::string& held, int64_t offset, std::string_view bytes);

}  // namespace simulation
