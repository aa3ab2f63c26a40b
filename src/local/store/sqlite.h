// SQLite wrapped in Results: connections, statements, transactions that roll back. Only this
// header's source sees sqlite3.h.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace local::store {

// The error for a full disk under the store at `path`.
base::Error NoRoom(const std::string& path);

// The rows of a statement; resets the statement when destroyed. If the statement could not be
// prepared, Next() says why.
class Rows {
 public:
  explicit Rows(sqlite3_stmt* statement) : statement_(statement) {}
  explicit Rows(base::Error why_not) : statement_(nullptr), why_not_(std::move(why_not)) {}
  Rows(const Rows&) = delete;
  Rows& operator=(const Rows&) = delete;
  Rows(Rows&& other) noexcept
      : statement_(std::exchange(other.statement_, nullptr)), why_not_(std::move(other.why_not_)) {}
  ~Rows();

  // Whether there is another row.
  base::Result<bool> Next();
  // A column of the row that Next() reached; the view is valid until the next Next().
  std::string_view Text(int column) const;
  int64_t Int(int column) const;

 private:
  sqlite3_stmt* statement_;
  std::optional<base::Error> why_not_;
};

// A statement, which is prepared, or will be when it first runs. One thread at a time, and one Rows
// at a time.
class Statement {
 public:
  Statement() = default;
  Statement(sqlite3* handle, std::string sql) : handle_(handle), sql_(std::move(sql)) {}
  bool IsPrepared() const { return statement_ != nullptr; }
  base::Status Prepare();

  // Binds the arguments in order. Text is borrowed until the Rows is destroyed.
  template <typename... Args>
  Rows Query(const Args&... args) {
    if (!IsPrepared()) {
      if (base::Status prepared = Prepare(); !prepared) return Rows(std::move(prepared.error()));
    }
    int index = 0;
    (Bind(++index, args), ...);
    return Rows(statement_.get());
  }
  // For statements that return no rows.
  template <typename... Args>
  base::Status Run(const Args&... args) {
    Rows rows = Query(args...);
    auto more = rows.Next();
    if (!more) return base::Fail(std::move(more.error()));
    return {};
  }

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  void Bind(int index, std::string_view text);
  void Bind(int index, int64_t number);

  sqlite3* handle_ = nullptr;
  std::string sql_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

// One connection. One thread at a time.
class Database {
 public:
  // WAL, synchronous=FULL. Creates the file with mode 0600 when absent; its side files take their
  // mode from it.
  static base::Result<Database> Open(const std::string& path);
  // Opens an existing file for reading.
  static base::Result<Database> OpenReader(const std::string& path);

  // Runs any number of statements without arguments and ignores their rows.
  base::Status Execute(const char* sql);
  // For long-lived statements; the Database must outlive them.
  base::Result<Statement> Prepare(std::string_view sql);
  // The same, prepared when it first runs: a start must not pay for statements that it may never
  // need.
  Statement Later(std::string sql);
  // Replaces the contents of `other` by a snapshot of this database.
  base::Status CopyTo(Database& other);
  // Whether the write-ahead log is checkpointed when this is the last connection to close; by
  // default it is.
  base::Status CheckpointOnClose(bool does);
  // A statement of a transaction, prepared when it first runs.
  enum class Step { kBegin, kCommit, kRollBack };
  base::Status Run(Step step);
  // Whether no transaction is open: none was begun, or SQLite rolled it back by itself.
  bool IsIdle() const;
  std::string path() const;
  // Limits the size of the file in bytes; 0: no limit.
  base::Status LimitSize(int64_t bytes);

 private:
  struct Close {
    void operator()(sqlite3* handle) const;
  };
  explicit Database(sqlite3* handle) : handle_(handle) {}
  static base::Result<Database> OpenHandle(const std::string& path, int flags);

  std::unique_ptr<sqlite3, Close> handle_;
  std::array<Statement, 3> steps_;  // finalised before the handle is closed
};

// BEGIN IMMEDIATE; rolls back when destroyed without a successful Commit.
class Transaction {
 public:
  static base::Result<Transaction> Begin(Database& database);
  Transaction(Transaction&& other) noexcept : database_(other.database_) {
    other.database_ = nullptr;
  }
  ~Transaction();
  // Durable on success.
  base::Status Commit();

 private:
  explicit Transaction(Database* database) : database_(database) {}
  Database* database_;
};

}  // namespace local::store
