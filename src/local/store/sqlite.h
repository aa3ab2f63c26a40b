// SQLite behind Results: connections, statements, transactions that roll back. The only place that
// sees sqlite3.h, beside its source.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace local::store {

// What is said where the disk below the store at `path` is full.
base::Error NoRoom(const std::string& path);

// What a statement yields, row by row; resets the statement when it goes.
class Rows {
 public:
  explicit Rows(sqlite3_stmt* statement) : statement_(statement) {}
  Rows(const Rows&) = delete;
  Rows& operator=(const Rows&) = delete;
  Rows(Rows&& other) noexcept : statement_(other.statement_) { other.statement_ = nullptr; }
  ~Rows();

  // Whether there is a further row.
  base::Result<bool> Next();
  // Of the row that Next() reached; the view lives until the next Next().
  std::string_view Text(int column) const;
  int64_t Int(int column) const;

 private:
  sqlite3_stmt* statement_;
};

// A prepared statement. One thread at a time, and one Rows at a time.
class Statement {
 public:
  Statement() = default;
  explicit Statement(sqlite3_stmt* statement) : statement_(statement) {}

  // Binds the arguments in order. Text is borrowed until the Rows goes.
  template <typename... Args>
  Rows Query(const Args&... args) {
    int index = 0;
    (Bind(++index, args), ...);
    return Rows(statement_.get());
  }
  // For statements that yield nothing.
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

  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

// One connection. One thread at a time.
class Database {
 public:
  // WAL, synchronous=FULL. The file is made with mode 0600 when absent; its side files take its
  // mode from it.
  static base::Result<Database> Open(const std::string& path);
  // For reading only; the file exists.
  static base::Result<Database> OpenReader(const std::string& path);

  // Any number of statements without arguments, rows ignored.
  base::Status Execute(const char* sql);
  // Kept for long: the statement outlives no Database.
  base::Result<Statement> Prepare(std::string_view sql);
  // Replaces all that is in `other`, as of one moment.
  base::Status CopyTo(Database& other);
  // The last connection to go otherwise brings the write-ahead log into the file.
  base::Status KeepLogOnClose();
  // Whether BEGIN was not called, or SQLite rolled the transaction back by itself.
  bool IsIdle() const;
  std::string path() const;
  // Bytes that the file may grow to; 0 is no limit.
  base::Status LimitSize(int64_t bytes);

 private:
  struct Close {
    void operator()(sqlite3* handle) const;
  };
  explicit Database(sqlite3* handle) : handle_(handle) {}
  static base::Result<Database> OpenHandle(const std::string& path, int flags);

  std::unique_ptr<sqlite3, Close> handle_;
};

// BEGIN, rolled back when it goes without a Commit that succeeded.
class Transaction {
 public:
  enum class Kind { kRead, kWrite };
  static base::Result<Transaction> Begin(Database& database, Kind kind);
  Transaction(Transaction&& other) noexcept : database_(other.database_) {
    other.database_ = nullptr;
  }
  ~Transaction();
  // Durable when it succeeds (kWrite).
  base::Status Commit();

 private:
  explicit Transaction(Database* database) : database_(database) {}
  Database* database_;
};

}  // namespace local::store
