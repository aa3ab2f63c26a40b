#include "local/store/sqlite.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include <cerrno>

#include "base/fd.h"
#include "base/file.h"
#include "base/machine/disk.h"

namespace local::store {
namespace {

// In WAL mode readers and the writer do not wait for each other. Waits are left for the recovery
// after a crash, and when another program opens the file.
constexpr int kBusyTimeoutMs = 5'000;

bool IsNoRoom(int os_errno) {
  return os_errno == ENOSPC || os_errno == EDQUOT || os_errno == EFBIG;
}

// The only conversion of SQLite's errors.
base::Error SqliteError(sqlite3* handle, int rc) {
  const char* path = sqlite3_db_filename(handle, "main");
  const int os_errno = sqlite3_system_errno(handle);
  const auto make = [&](base::Code code, std::string_view text) {
    return base::Error{code, fmt::format("store \"{}\": {}", path == nullptr ? "" : path, text), 0};
  };
  switch (rc & 0xff) {
    case SQLITE_FULL:
      return NoRoom(path == nullptr ? "" : path);
    case SQLITE_NOMEM:
      return make(base::Code::kExhausted, "out of memory");
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return make(base::Code::kUnavailable, "locked by another program");
    case SQLITE_PERM:
    case SQLITE_READONLY:
    case SQLITE_AUTH:
      return make(base::Code::kPermissionDenied, sqlite3_errmsg(handle));
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return make(
          base::Code::kInternal,
          fmt::format("damaged ({}): `muster cluster --restore` brings back its last backup",
                      sqlite3_errmsg(handle)));
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
      if (IsNoRoom(os_errno) || rc == SQLITE_IOERR_SHMSIZE) {
        return NoRoom(path == nullptr ? "" : path);
      }
      if (os_errno != 0) {
        return base::Errno(os_errno, make(base::Code::kInternal, sqlite3_errmsg(handle)).message);
      }
      [[fallthrough]];
    default:
      return make(base::Code::kInternal,
                  fmt::format("{} (SQLite error {})", sqlite3_errmsg(handle), rc));
  }
}

// SQLite would create the file with mode 0644.
base::Status MakePrivateFile(const std::string& path) {
  const base::Fd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd) return base::Fail(base::Errno(errno, fmt::format("open \"{}\"", path)));
  if (::fchmod(fd.get(), 0600) != 0) {
    return base::Fail(base::Errno(errno, fmt::format("chmod \"{}\"", path)));
  }
  const std::string directory = path.substr(0, path.rfind('/') + 1);
  const base::Fd parent(
      ::open(directory.empty() ? "." : directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!parent || ::fsync(parent.get()) != 0) {
    return base::Fail(base::Errno(errno, fmt::format("sync \"{}\"", directory)));
  }
  return {};
}

}  // namespace

base::Error NoRoom(const std::string& path) {
  return {base::Code::kExhausted,
          base::NoSpaceOn(base::DirectoryOf(path)) +
              ": delete jobs (`muster prune`, `muster delete`), or other files there",
          0};
}

Rows::~Rows() {
  if (statement_ == nullptr) return;
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
}

base::Result<bool> Rows::Next() {
  if (statement_ == nullptr) {
    return base::Fail(why_not_.value_or(base::Error{base::Code::kInternal, "no statement", 0}));
  }
  const int rc = sqlite3_step(statement_);
  if (rc == SQLITE_ROW) return true;
  if (rc == SQLITE_DONE) return false;
  return base::Fail(SqliteError(sqlite3_db_handle(statement_), rc));
}

std::string_view Rows::Text(int column) const {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
  if (text == nullptr) return {};
  return {text, static_cast<size_t>(sqlite3_column_bytes(statement_, column))};
}

int64_t Rows::Int(int column) const { return sqlite3_column_int64(statement_, column); }

void Statement::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

base::Status Statement::Prepare() {
  sqlite3_stmt* statement = nullptr;
  const int rc = sqlite3_prepare_v3(handle_, sql_.data(), static_cast<int>(sql_.size()),
                                    SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  if (rc != SQLITE_OK) return base::Fail(SqliteError(handle_, rc));
  statement_.reset(statement);
  return {};
}

void Statement::Bind(int index, std::string_view text) {
  sqlite3_bind_text64(statement_.get(), index, text.data() == nullptr ? "" : text.data(),
                      text.size(), SQLITE_STATIC, SQLITE_UTF8);
}

void Statement::Bind(int index, int64_t number) {
  sqlite3_bind_int64(statement_.get(), index, number);
}

void Database::Close::operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }

base::Result<Database> Database::OpenHandle(const std::string& path, int flags) {
  // SQLite's memory statistics take a lock that all connections share, and nobody reads them.
  [[maybe_unused]] static const int uncounted = sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
  sqlite3* handle = nullptr;
  const int rc = sqlite3_open_v2(path.c_str(), &handle, flags | SQLITE_OPEN_NOMUTEX, nullptr);
  Database database(handle);
  if (rc != SQLITE_OK) {
    if (handle == nullptr) return base::Fail(base::Code::kExhausted, "out of memory");
    return base::Fail(SqliteError(handle, rc).Wrap(fmt::format("open \"{}\"", path)));
  }
  sqlite3_extended_result_codes(handle, 1);
  sqlite3_busy_timeout(handle, kBusyTimeoutMs);
  return database;
}

base::Result<Database> Database::Open(const std::string& path) {
  TRY(MakePrivateFile(path));
  TRY_ASSIGN(Database database, OpenHandle(path, SQLITE_OPEN_READWRITE));
  // 1 MB of page cache; the log is truncated to 4 MB after a checkpoint.
  TRY(
      // A new file gives space back; Migrate changes an older one.
      database.Execute("PRAGMA auto_vacuum=INCREMENTAL;"
                       "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA cache_size=-1024;"
                       "PRAGMA journal_size_limit=4194304; PRAGMA trusted_schema=OFF;"
                       "PRAGMA temp_store=MEMORY;"));
  return database;
}

base::Result<Database> Database::OpenReader(const std::string& path) {
  TRY_ASSIGN(Database database, OpenHandle(path, SQLITE_OPEN_READWRITE));
  TRY(
      database.Execute("PRAGMA query_only=ON; PRAGMA cache_size=-1024; PRAGMA trusted_schema=OFF;"
                       "PRAGMA temp_store=MEMORY;"));
  return database;
}

base::Status Database::Execute(const char* sql) {
  const int rc = sqlite3_exec(handle_.get(), sql, nullptr, nullptr, nullptr);
  if (rc != SQLITE_OK) return base::Fail(SqliteError(handle_.get(), rc));
  return {};
}

base::Result<Statement> Database::Prepare(std::string_view sql) {
  Statement statement = Later(std::string(sql));
  TRY(statement.Prepare());
  return statement;
}

Statement Database::Later(std::string sql) { return {handle_.get(), std::move(sql)}; }

std::string Database::path() const {
  const char* path = sqlite3_db_filename(handle_.get(), "main");
  return path == nullptr ? "" : path;
}

base::Status Database::CopyTo(Database& other) {
  sqlite3_backup* backup = sqlite3_backup_init(other.handle_.get(), "main", handle_.get(), "main");
  if (backup == nullptr) {
    return base::Fail(SqliteError(other.handle_.get(), sqlite3_errcode(other.handle_.get())));
  }
  // In one step: a concurrent writer would make it start again after each step.
  sqlite3_backup_step(backup, -1);
  const int rc = sqlite3_backup_finish(backup);
  if (rc != SQLITE_OK) return base::Fail(SqliteError(other.handle_.get(), rc));
  return {};
}

base::Status Database::CheckpointOnClose(bool does) {
  const int rc =
      sqlite3_db_config(handle_.get(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, does ? 0 : 1, nullptr);
  if (rc != SQLITE_OK) return base::Fail(SqliteError(handle_.get(), rc));
  return {};
}

base::Status Database::Run(Step step) {
  constexpr std::array<std::string_view, 3> kSql = {"BEGIN IMMEDIATE", "COMMIT", "ROLLBACK"};
  const auto index = static_cast<size_t>(step);
  Statement& statement = steps_[index];
  if (!statement.IsPrepared()) {
    TRY_ASSIGN(statement, Prepare(kSql[index]));
  }
  return statement.Run();
}

bool Database::IsIdle() const { return sqlite3_get_autocommit(handle_.get()) != 0; }

base::Status Database::LimitSize(int64_t bytes) {
  if (bytes == 0) return {};
  TRY_ASSIGN(Statement page_size, Prepare("PRAGMA page_size"));
  int64_t size = 4096;
  {
    Rows rows = page_size.Query();
    TRY_ASSIGN(const bool has_row, rows.Next());
    if (has_row) size = rows.Int(0);
  }
  return Execute(fmt::format("PRAGMA max_page_count={}", bytes / size + 1).c_str());
}

base::Result<Transaction> Transaction::Begin(Database& database) {
  TRY(database.Run(Database::Step::kBegin));
  return Transaction(&database);
}

Transaction::~Transaction() {
  if (database_ != nullptr && !database_->IsIdle()) (void)database_->Run(Database::Step::kRollBack);
}

base::Status Transaction::Commit() {
  TRY(database_->Run(Database::Step::kCommit));
  database_ = nullptr;
  return {};
}

}  // namespace local::store
