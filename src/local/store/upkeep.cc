#include "local/store/upkeep.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "base/fd.h"
#include "base/file.h"
#include "base/machine/disk.h"
#include "local/store/migration.h"
#include "local/store/sqlite.h"

namespace local::store {
namespace {

// How much free space a backup leaves for others.
constexpr uint64_t kBackupMargin = 64 << 20;
// More versions than any daemon uses between two backups.
constexpr int64_t kVersionsAhead = 1'000'000'000;
// The pages freed by one transaction, while other writers wait.
constexpr int kPagesAtOnce = 500;
// How many free pages are left in the file for later writes.
constexpr int64_t kMinFreePages = 1'000;

base::Result<int64_t> Number(Database& database, std::string_view sql) {
  TRY_ASSIGN(Statement statement, database.Prepare(sql));
  Rows rows = statement.Query();
  TRY_ASSIGN(const bool has_row, rows.Next());
  return has_row ? rows.Int(0) : 0;
}

// 0 when there is no readable file.
int64_t VersionOfFile(const std::string& path) {
  if (::access(path.c_str(), F_OK) != 0) return 0;
  auto database = Database::OpenReader(path);
  if (!database) return 0;
  const auto version = Number(*database, "SELECT version FROM revision");
  return version ? *version : 0;
}

base::Status SyncFolderOf(const std::string& path) {
  const std::string folder = base::DirectoryOf(path);
  const base::Fd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd || ::fsync(fd.get()) != 0) return base::Fail(base::Errno(errno, "sync " + folder));
  return {};
}

base::Status Replace(const std::string& from, const std::string& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) {
    return base::Fail(base::Errno(errno, fmt::format("rename \"{}\"", from)));
  }
  return SyncFolderOf(to);
}

base::Status CopyStore(const std::string& from, const std::string& to) {
  for (const char* suffix : {"", "-wal", "-shm"}) ::unlink((to + suffix).c_str());
  TRY_ASSIGN(Database source, Database::OpenReader(from));
  TRY_ASSIGN(Database copy, Database::Open(to));
  return source.CopyTo(copy);
}

}  // namespace

bool WasLeftOpen(const std::string& path) {
  struct stat info{};
  return ::stat((path + "-wal").c_str(), &info) == 0 && info.st_size > 0;
}

base::Result<std::optional<Database>> Check(const std::string& path) {
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0 || info.st_size == 0) return std::nullopt;
  TRY_ASSIGN(Database database, Database::OpenReader(path));
  TRY(database.CheckpointOnClose(false));
  TRY_ASSIGN(Statement check, database.Prepare("PRAGMA quick_check(1)"));
  {
    Rows rows = check.Query();
    TRY_ASSIGN(const bool has_row, rows.Next());
    if (has_row && rows.Text(0) != "ok") {
      std::string what(rows.Text(0));
      for (char& c : what) c = c == '\n' ? ' ' : c;
      return base::Fail(base::Code::kInternal, what);
    }
  }
  TRY_ASSIGN(const int64_t version, Number(database, "PRAGMA user_version"));
  if (version != 0) {
    TRY_ASSIGN(const int64_t torn,
               Number(database, "SELECT count(*) FROM objects WHERE NOT json_valid(json)"));
    if (torn != 0) {
      return base::Fail(base::Code::kInternal, fmt::format("{} objects cannot be read", torn));
    }
  }
  TRY(database.CheckpointOnClose(true));
  return database;
}

base::Result<bool> BackUp(const std::string& path, const std::string& to) {
  if (VersionOfFile(path) == VersionOfFile(to)) return false;
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0) return base::Fail(base::Errno(errno, "stat " + path));
  if (base::DiskSpaceOf(to).free < static_cast<uint64_t>(info.st_size) + kBackupMargin) {
    return base::Fail(base::Code::kExhausted,
                      fmt::format("not enough space for a backup of {} bytes on the disk of \"{}\"",
                                  info.st_size, base::DirectoryOf(to)));
  }
  const std::string made = to + ".new";
  TRY(CopyStore(path, made));
  if (auto checked = Check(made); !checked) {
    for (const char* suffix : {"", "-wal", "-shm"}) ::unlink((made + suffix).c_str());
    return base::Fail(checked.error().Wrap("the store is damaged and was not backed up"));
  }
  for (const char* suffix : {"-wal", "-shm"}) ::unlink((made + suffix).c_str());
  TRY(Replace(made, to));
  return true;
}

base::Status RestoreFrom(const std::string& backup, const std::string& path) {
  if (auto checked = Check(backup); !checked) return base::Fail(checked.error().Wrap(backup));
  const std::string made = path + ".new";
  TRY(CopyStore(backup, made));
  {
    TRY_ASSIGN(Database database, Database::Open(made));
    TRY(Migrate(database));
    TRY(database.Execute(
        fmt::format("UPDATE revision SET version = version + {}", kVersionsAhead).c_str()));
  }
  return Replace(made, path);
}

base::Result<int64_t> GiveBackSpace(const std::string& path) {
  TRY_ASSIGN(Database database, Database::Open(path));
  TRY_ASSIGN(const int64_t page, Number(database, "PRAGMA page_size"));
  TRY_ASSIGN(const int64_t before, Number(database, "PRAGMA freelist_count"));
  if (before < kMinFreePages) return 0;
  int64_t left = before;
  while (left > 0) {
    TRY(database.Execute(fmt::format("PRAGMA incremental_vacuum({})", kPagesAtOnce).c_str()));
    TRY_ASSIGN(const int64_t now, Number(database, "PRAGMA freelist_count"));
    if (now >= left) break;
    left = now;
  }
  // The checkpoint shortens the file.
  TRY(database.Execute("PRAGMA wal_checkpoint(PASSIVE)"));
  return (before - left) * page;
}

base::Status ForgetDeleted(const std::string& path,
                           const std::function<bool(std::string_view uid)>& is_kept) {
  TRY_ASSIGN(Database database, Database::Open(path));
  std::vector<std::string> forgotten;
  {
    TRY_ASSIGN(Statement select, database.Prepare("SELECT uid FROM deleted"));
    Rows rows = select.Query();
    while (true) {
      TRY_ASSIGN(const bool has_row, rows.Next());
      if (!has_row) break;
      if (!is_kept(rows.Text(0))) forgotten.emplace_back(rows.Text(0));
    }
  }
  if (forgotten.empty()) return {};
  TRY_ASSIGN(Transaction transaction, Transaction::Begin(database));
  TRY_ASSIGN(Statement forget, database.Prepare("DELETE FROM deleted WHERE uid=?"));
  for (const std::string& uid : forgotten) TRY(forget.Run(std::string_view(uid)));
  return transaction.Commit();
}

base::Result<int64_t> OldestKept(const std::string& path) {
  TRY_ASSIGN(Database database, Database::OpenReader(path));
  return Number(database, "SELECT coalesce(min(created), 0) FROM kept WHERE uid = run");
}

base::Result<std::set<std::string>> KeptUids(const std::string& path) {
  TRY_ASSIGN(Database database, Database::OpenReader(path));
  TRY_ASSIGN(Statement select, database.Prepare("SELECT uid FROM kept"));
  Rows rows = select.Query();
  std::set<std::string> uids;
  while (true) {
    TRY_ASSIGN(const bool has_row, rows.Next());
    if (!has_row) return uids;
    uids.emplace(rows.Text(0));
  }
}

}  // namespace local::store
