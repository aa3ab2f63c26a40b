#include "snapshot/store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>

#include "base/defer.h"
#include "base/digest/hmac.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/folder.h"
#include "base/machine/disk.h"
#include "base/shared_work.h"
#include "base/strings.h"
#include "process/program_output.h"
#include "process/spawn.h"

namespace snapshot {
namespace {

// Fewer files do not justify another thread.
constexpr size_t kFilesAThread = 200;

using base::Code;
using base::Fail;

// A larger file is read in parts of this size.
constexpr size_t kPart = 16 << 20;
// A file that grows while it is read at once.
constexpr size_t kMaxFile = 1 << 30;
constexpr size_t kMaxList = 256 << 20;
// A file that changed this shortly before it was read may change again without a visible
// difference.
constexpr int64_t kGrainNs = 2'000'000'000;

using base::Hex;

int64_t Nanoseconds(const timespec& time) {
  return static_cast<int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

char LetterOf(File::Kind kind) {
  return kind == File::Kind::kPlain ? 'f' : kind == File::Kind::kExecutable ? 'x' : 'l';
}

// "f <hash> <size> <path>", each ended by a NUL.
std::string ListOf(const std::vector<File>& files) {
  std::string list;
  for (const File& file : files) {
    list += fmt::format("{} {} {} {}", LetterOf(file.kind), file.hash, file.size, file.path);
    list += '\0';
  }
  return list;
}

base::Result<std::vector<File>> ParseList(std::string_view list) {
  const auto damaged = [] { return Fail(Code::kInternal, "the snapshot's list is damaged"); };
  std::vector<File> files;
  while (!list.empty()) {
    const size_t end = list.find('\0');
    if (end == std::string_view::npos) return damaged();
    const std::string_view line = list.substr(0, end);
    list.remove_prefix(end + 1);
    const size_t size = line.find(' ', 2);
    const size_t path = size == std::string_view::npos ? size : line.find(' ', size + 1);
    if (path == std::string_view::npos || line[1] != ' ') return damaged();
    File file;
    file.kind = line[0] == 'l'   ? File::Kind::kLink
                : line[0] == 'x' ? File::Kind::kExecutable
                                 : File::Kind::kPlain;
    file.hash = line.substr(2, size - 2);
    const auto bytes = base::ParseInt(line.substr(size + 1, path - size - 1));
    if (!bytes) return damaged();
    file.size = *bytes;
    file.path = line.substr(path + 1);
    files.push_back(std::move(file));
  }
  return files;
}

// The state of a file when it was last read: "<size> <mtime> <ctime> <inode>".
std::string LooksOf(const struct stat& info) {
  return fmt::format("{} {} {} {}", info.st_size, Nanoseconds(info.st_mtim),
                     Nanoseconds(info.st_ctim), info.st_ino);
}

// The hashes of a root's files when they were last read, by path. Only an optimization: an
// unreadable file counts as an empty one.
class Seen {
 public:
  explicit Seen(std::string path) : path_(std::move(path)) {
    auto text = base::ReadFile(path_, kMaxList);
    if (!text) return;
    old_ = *std::move(text);
    for (std::string_view rest = old_; !rest.empty();) {
      const std::string_view line = rest.substr(0, rest.find('\0'));
      rest.remove_prefix(std::min(rest.size(), line.size() + 1));
      const size_t looks = line.find('\t');
      const size_t hash = looks == std::string_view::npos ? looks : line.find('\t', looks + 1);
      if (hash == std::string_view::npos) continue;
      known_[line.substr(hash + 1)] = {line.substr(0, looks),
                                       line.substr(looks + 1, hash - looks - 1)};
    }
  }
  Seen(const Seen&) = delete;
  Seen& operator=(const Seen&) = delete;

  // "" when unknown.
  std::string HashOf(const Entry& entry) const {
    const auto it = known_.find(entry.path);
    const bool is_known = it != known_.end() && it->second.first == LooksOf(entry.info);
    return is_known ? std::string(it->second.second) : "";
  }
  void Note(const Entry& entry, const std::string& hash) {
    timespec now{};
    ::clock_gettime(CLOCK_REALTIME, &now);
    if (Nanoseconds(now) - Nanoseconds(entry.info.st_ctim) < kGrainNs) return;
    text_ += fmt::format("{}\t{}\t{}", LooksOf(entry.info), hash, entry.path);
    text_ += '\0';
  }
  void Save() const { (void)base::WriteFileAtomic(path_, text_, 0600, base::Durability::kNone); }

 private:
  const std::string path_;
  std::string old_;  // the text of the file, which known_ points into
  std::unordered_map<std::string_view, std::pair<std::string_view, std::string_view>> known_;
  std::string text_;
};

// The file of an entry; its hash is "" if it was not seen in this state before.
File FileOf(const Seen& seen, const Entry& entry) {
  if (S_ISLNK(entry.info.st_mode)) {
    return {entry.path, File::Kind::kLink, Hex(base::Sha256(entry.link)),
            static_cast<int64_t>(entry.link.size())};
  }
  const bool is_executable = (entry.info.st_mode & S_IXUSR) != 0;
  return {entry.path, is_executable ? File::Kind::kExecutable : File::Kind::kPlain,
          seen.HashOf(entry), entry.info.st_size};
}

// The files of a folder if each is unchanged since it was seen, without the snapshot's hash; else
// nullopt.
std::optional<Snapshot> Unchanged(const Seen& seen, const std::vector<Entry>& entries) {
  Snapshot snapshot;
  for (const Entry& entry : entries) {
    File file = FileOf(seen, entry);
    if (file.hash.empty()) return std::nullopt;
    snapshot.bytes += file.size;
    snapshot.files.push_back(std::move(file));
  }
  return snapshot;
}

bool IsOlderThan(const std::string& path, base::Duration age) {
  struct stat info{};
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return ::lstat(path.c_str(), &info) == 0 &&
         Nanoseconds(now) - Nanoseconds(info.st_mtim) >
             std::chrono::duration_cast<std::chrono::nanoseconds>(age).count();
}

base::Status Copy(const std::string& from, const std::string& to, mode_t mode) {
  const base::Fd source(::open(from.c_str(), O_RDONLY | O_CLOEXEC));
  if (!source) return Fail(base::Errno(errno, "open " + from));
  const base::Fd target(::open(to.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
  if (!target) return Fail(base::WriteErrno(errno, "create", to));
  return base::CopyContent(source.get(), target.get(), to);
}

// Puts these files of `directory` on disk. For many files, syncs the whole file system: that takes
// a fraction of the time, but also waits for what other programs have written there.
base::Status Sync(const std::vector<std::string>& files, const std::string& directory) {
  constexpr size_t kFew = 64;
  if (files.size() > kFew) {
    const base::Fd fd(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (fd && ::syncfs(fd.get()) == 0) return {};
    return Fail(base::WriteErrno(errno, "sync", directory));
  }
  for (const std::string& file : files) {
    const base::Fd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd || ::fsync(fd.get()) != 0) return Fail(base::WriteErrno(errno, "sync", file));
  }
  return {};
}

}  // namespace

std::string Store::ListPath(const std::string& hash) const { return directory_ + "/lists/" + hash; }

std::string Store::ObjectPath(const std::string& hash) const {
  return fmt::format("{}/objects/{}/{}", directory_, hash.substr(0, 2), hash.substr(2));
}

base::Result<std::string> Store::ContentOf(const File& file) const {
  return base::ReadFile(ObjectPath(file.hash));
}

bool Store::Renew(const std::string& hash, int64_t size) const {
  const std::string path = ObjectPath(hash);
  struct stat info{};
  return ::stat(path.c_str(), &info) == 0 && info.st_size == size &&
         ::utimensat(AT_FDCWD, path.c_str(), nullptr, 0) == 0;
}

base::Status Store::KeepFile(const std::string& path, off_t size, File& file,
                             std::vector<std::string>& made) const {
  if (size > static_cast<off_t>(kPart)) return KeepInParts(path, file, made);
  TRY_ASSIGN(const std::string content, base::ReadFile(path, kMaxFile));
  file.hash = Hex(base::Sha256(content));
  file.size = static_cast<int64_t>(content.size());
  return Keep(file.hash, content, made);
}

base::Status Store::KeepInParts(const std::string& path, File& file,
                                std::vector<std::string>& made) const {
  const base::Fd source(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!source) return Fail(base::Errno(errno, "open " + path));
  // Where Prune finds it if this process is killed.
  const std::string folder = directory_ + "/objects/new";
  TRY(base::MakeDirs(folder));
  std::string copy = folder + "/XXXXXX";
  const base::Fd target(::mkostemp(copy.data(), O_CLOEXEC));
  if (!target) return Fail(base::WriteErrno(errno, "create", copy));
  const base::Defer remove([&] { ::unlink(copy.c_str()); });
  base::Sha256Sum sum;
  file.size = 0;
  std::string part(kPart, '\0');
  while (true) {
    const ssize_t count = ::read(source.get(), part.data(), part.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Fail(base::Errno(errno, "read " + path));
    if (count == 0) break;
    const std::string_view bytes(part.data(), static_cast<size_t>(count));
    sum.Add(bytes);
    TRY(base::WriteAll(target.get(), bytes, copy));
    file.size += count;
  }
  file.hash = Hex(sum.Finish());
  if (Renew(file.hash, file.size)) return {};
  const std::string object = ObjectPath(file.hash);
  TRY(base::MakeDirs(base::DirectoryOf(object)));
  if (::fchmod(target.get(), 0400) != 0 || ::rename(copy.c_str(), object.c_str()) != 0) {
    return Fail(base::WriteErrno(errno, "create", object));
  }
  made.push_back(object);
  return {};
}

base::Status Store::Keep(const std::string& hash, std::string_view content,
                         std::vector<std::string>& made) const {
  if (Renew(hash, static_cast<int64_t>(content.size()))) return {};
  const std::string path = ObjectPath(hash);
  TRY(base::MakeDirs(base::DirectoryOf(path)));
  made.push_back(path);
  return base::WriteFileAtomic(path, content, 0400, base::Durability::kNone);
}

base::Result<Snapshot> Store::Take(const std::string& root, const std::vector<Entry>& entries) {
  TRY(base::MakeDirs(directory_));
  const base::Fd lock(::open(directory_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  (void)::flock(lock.get(), LOCK_SH);
  std::vector<std::string> made;
  auto taken = TakeAll(root, entries, made);
  // Others that take a snapshot now may count on them; Prune removes them then.
  if (!taken && ::flock(lock.get(), LOCK_EX | LOCK_NB) == 0) {
    for (const std::string& path : made) ::unlink(path.c_str());
  }
  return taken;
}

base::Result<Snapshot> Store::TakeAll(const std::string& root, const std::vector<Entry>& entries,
                                      std::vector<std::string>& made) {
  TRY(base::MakeDirs(directory_ + "/seen"));
  TRY(base::MakeDirs(directory_ + "/lists"));
  Seen seen(directory_ + "/seen/" + base::Md5Hex(root));
  if (auto unchanged = Unchanged(seen, entries)) {
    unchanged->hash = Hex(base::Sha256(ListOf(unchanged->files)));
    // All listed files are stored. Their times are updated, because Prune keeps what is in use.
    if (::utimensat(AT_FDCWD, ListPath(unchanged->hash).c_str(), nullptr, 0) == 0) {
      return *std::move(unchanged);
    }
  }
  Snapshot taken;
  std::vector<std::string> objects;  // files that no list on disk vouches for
  for (const Entry& entry : entries) {
    File file = FileOf(seen, entry);
    if (file.kind == File::Kind::kLink) {
      TRY(Keep(file.hash, entry.link, made));
      objects.push_back(ObjectPath(file.hash));
    } else {
      if (file.hash.empty() || ::access(ObjectPath(file.hash).c_str(), R_OK) != 0) {
        TRY(KeepFile(root + "/" + entry.path, entry.info.st_size, file, made));
        objects.push_back(ObjectPath(file.hash));
      }
      seen.Note(entry, file.hash);
    }
    taken.bytes += file.size;
    taken.files.push_back(std::move(file));
  }
  const std::string list = ListOf(taken.files);
  taken.hash = Hex(base::Sha256(list));
  const std::string path = ListPath(taken.hash);
  if (::utimensat(AT_FDCWD, path.c_str(), nullptr, 0) != 0) {
    // If a list is on disk, so are its files, whoever wrote them. Files that were seen before were
    // listed.
    TRY(Sync(objects, directory_));
    TRY(base::WriteFileAtomic(path, list, 0400, base::Durability::kSync));
  }
  seen.Save();
  return taken;
}

base::Result<Snapshot> Store::Read(const std::string& hash) const {
  const bool is_hash =
      hash.size() == 64 && hash.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (!is_hash)
    return Fail(Code::kNotFound, fmt::format("\"{}\" is not the hash of a snapshot", hash));
  auto list = base::ReadFile(directory_ + "/lists/" + hash, kMaxList);
  if (!list) return Fail(list.error());
  Snapshot snapshot;
  snapshot.hash = hash;
  TRY_ASSIGN(snapshot.files, ParseList(*list));
  for (const File& file : snapshot.files) snapshot.bytes += file.size;
  return snapshot;
}

base::Result<std::string> Store::Pack(const Snapshot& snapshot,
                                      const std::map<std::string, std::string>& more,
                                      const base::Environment& environment) const {
  TRY(base::MakeDirs(directory_));
  std::string folder = directory_ + "/packed-XXXXXX";
  if (::mkdtemp(folder.data()) == nullptr) {
    return Fail(base::WriteErrno(errno, "make directory", folder));
  }
  const base::Defer remove([&] { (void)base::RemoveTree(folder); });
  TRY(WriteFiles(snapshot, folder + "/code"));
  for (const auto& [name, content] : more) {
    const std::string path = fmt::format("{}/code/{}", folder, name);
    TRY(base::MakeDirs(base::DirectoryOf(path)));
    TRY(base::WriteFileAtomic(path, content, 0644, base::Durability::kNone));
  }
  TRY_ASSIGN(process::ProgramOutput packed,
             process::OutputOf({"tar", "-C", folder + "/code", "--sort=name", "--mtime=@0",
                                "--owner=0", "--group=0", "--numeric-owner", "--mode=u+rwX,go+rX",
                                "-I", "gzip -n", "-cf", "-", "."},
                               environment));
  if (packed.exit_code == 0) return std::move(packed.out);
  return Fail(Code::kInternal, fmt::format("tar: {}", base::Trim(packed.err)));
}

void Store::Prune(const std::set<std::string>& kept, base::Duration grace) const {
  std::set<std::string> held;
  const std::string lists = directory_ + "/lists";
  for (const std::string& hash : base::EntriesOf(lists)) {
    const std::string path = lists + "/" + hash;
    if (!kept.contains(hash) && IsOlderThan(path, grace)) {
      ::unlink(path.c_str());
      continue;
    }
    const auto snapshot = Read(hash);
    if (!snapshot) continue;
    for (const File& file : snapshot->files) held.insert(file.hash);
  }
  const std::string objects = directory_ + "/objects";
  for (const std::string& first : base::EntriesOf(objects)) {
    for (const std::string& rest : base::EntriesOf(objects + "/" + first)) {
      const std::string path = fmt::format("{}/{}/{}", objects, first, rest);
      if (!held.contains(first + rest) && IsOlderThan(path, grace)) ::unlink(path.c_str());
    }
  }
}

base::Status Store::WriteTo(const Snapshot& snapshot, const std::string& target) const {
  base::Status written = WriteFiles(snapshot, target);
  std::vector<std::string> files;
  for (const File& file : snapshot.files) {
    if (file.kind != File::Kind::kLink) files.push_back(target + "/" + file.path);
  }
  if (written) written = Sync(files, target);
  if (written) return written;
  (void)base::RemoveTree(target);
  // A file that is gone from the store is read again with the next snapshot.
  if (written.error().code == Code::kNotFound) ::unlink(ListPath(snapshot.hash).c_str());
  return written;
}

base::Status Store::WriteFiles(const Snapshot& snapshot, const std::string& target) const {
  const unsigned folder_mode = 0777 & ~process::CurrentUmask();
  TRY(base::MakeDirs(target, folder_mode));
  std::set<std::string> folders;
  for (const File& file : snapshot.files) {
    const std::string folder = base::DirectoryOf(target + "/" + file.path);
    if (folders.insert(folder).second) TRY(base::MakeDirs(folder, folder_mode));
  }
  // Most of a file's time is spent in the kernel, which can create files in several folders at
  // once.
  const std::span<const File> all(snapshot.files);
  return base::ShareWork(all.size(), kFilesAThread, [&](size_t from, size_t count) {
    return WriteSome(all.subspan(from, count), target);
  });
}

base::Status Store::WriteSome(std::span<const File> files, const std::string& target) const {
  for (const File& file : files) {
    const std::string path = target + "/" + file.path;
    const std::string object = ObjectPath(file.hash);
    if (file.kind == File::Kind::kLink) {
      TRY_ASSIGN(const std::string link, base::ReadFile(object));
      if (::symlink(link.c_str(), path.c_str()) != 0) {
        return Fail(base::WriteErrno(errno, "make link", path));
      }
    } else {
      TRY(Copy(object, path, file.kind == File::Kind::kExecutable ? 0777 : 0666));
    }
  }
  return {};
}

}  // namespace snapshot
