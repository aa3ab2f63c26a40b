#include "local/store/store.h"

#include <fmt/format.h>

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "base/defer.h"
#include "local/store/list_sql.h"
#include "local/store/migration.h"
#include "local/store/reserve.h"
#include "local/store/sqlite.h"
#include "local/store/writer.h"

namespace local::store {
namespace {

struct Reader {
  Database database;
  Statement get;
  Statement version;
  Statement fate;
  // By their SQL: there are as many as kinds of queries. Preparing one takes longer than reading a
  // job's pods.
  std::map<std::string, Statement> prepared;

  base::Result<Statement*> Prepared(const std::string& sql) {
    const auto found = prepared.find(sql);
    if (found != prepared.end()) return &found->second;
    TRY_ASSIGN(Statement made, database.Prepare(sql));
    return &prepared.emplace(sql, std::move(made)).first->second;
  }
};

base::Result<int64_t> VersionOf(Rows& rows) {
  TRY_ASSIGN(const bool has_row, rows.Next());
  if (!has_row) return base::Fail(base::Code::kInternal, "the store has no revision");
  return rows.Int(0);
}

base::Result<int64_t> ReadVersion(Statement& statement) {
  Rows rows = statement.Query();
  return VersionOf(rows);
}

// What it takes to read a list of 500 jobs or fewer.
constexpr std::chrono::milliseconds kUsualRead{2};

// Read connections, opened when first needed. Thread safe.
class ReaderPool {
 public:
  // `first`: a connection that is open already.
  ReaderPool(std::string path, std::optional<Database> first) : path_(std::move(path)) {
    if (!first) return;
    idle_.push_back(ReaderOf(std::move(*first)));
    ++count_;
  }

  using Returned = std::function<void(Reader*)>;
  using Lease = std::unique_ptr<Reader, Returned>;

  // Allows another connection in place of one that is lent for long; when that one returns, it is
  // closed if there are enough.
  void LendForLong() {
    {
      const std::lock_guard lock(mutex_);
      --count_;
    }
    returned_.notify_one();
  }
  void TakeBackFromLong(Lease lease) {
    std::unique_ptr<Reader> reader(lease.release());
    {
      const std::lock_guard lock(mutex_);
      if (count_ == kMaxReaders) return;
      ++count_;
      idle_.push_back(std::move(reader));
    }
    returned_.notify_one();
  }

  base::Result<Lease> Take() {
    std::unique_lock lock(mutex_);
    // Most reads take less time than a connection, which parses the schema: one that is lent is
    // waited for a little before another is opened.
    returned_.wait_for(lock, kUsualRead, [this] { return !idle_.empty() || count_ == 0; });
    returned_.wait(lock, [this] { return !idle_.empty() || count_ < kMaxReaders; });
    if (idle_.empty()) {
      TRY_ASSIGN(std::unique_ptr<Reader> made, Make());
      ++count_;
      idle_.push_back(std::move(made));
    }
    Reader* reader = idle_.back().release();
    idle_.pop_back();
    return Lease(reader, [this](Reader* back) {
      {
        const std::lock_guard again(mutex_);
        idle_.emplace_back(back);
      }
      returned_.notify_one();
    });
  }

 private:
  base::Result<std::unique_ptr<Reader>> Make() const {
    TRY_ASSIGN(Database database, Database::OpenReader(path_));
    return ReaderOf(std::move(database));
  }
  static std::unique_ptr<Reader> ReaderOf(Database database) {
    Statement get =
        database.Later("SELECT json FROM objects WHERE resource=? AND namespace=? AND name=?");
    Statement version = database.Later("SELECT version FROM revision");
    Statement fate = database.Later(
        "SELECT EXISTS(SELECT 1 FROM objects WHERE uid=?1),"
        " EXISTS(SELECT 1 FROM deleted WHERE uid=?1)");
    return std::make_unique<Reader>(
        Reader{std::move(database), std::move(get), std::move(version), std::move(fate), {}});
  }

  const std::string path_;
  std::mutex mutex_;
  std::condition_variable returned_;
  std::vector<std::unique_ptr<Reader>> idle_;
  size_t count_ = 0;
};

// Selects jobs, or the pods of one run.
std::string KeptSql(const KeptQuery& query, std::string_view columns) {
  std::string sql = fmt::format("SELECT {} FROM kept WHERE ", columns);
  if (!query.uid.empty()) {
    sql += "uid = ?5 AND ?1 = ''";
  } else {
    sql += query.run.empty() ? "uid = run AND ?1 = ''" : "run = ?1 AND uid <> run";
    sql += " AND ?5 = ''";
  }
  sql += query.namespace_name.empty() ? " AND ?2 = ''" : " AND namespace = ?2";
  sql += query.name.empty() ? " AND ?3 = ''" : " AND name = ?3";
  sql += query.uid_prefix.empty() ? " AND ?4 = ''" : " AND substr(uid, 1, length(?4)) = ?4";
  return sql;
}

Rows Run(Statement& statement, const KeptQuery& query) {
  return statement.Query(query.run, query.namespace_name, query.name, query.uid_prefix, query.uid);
}

Rows Run(Statement& statement, const ListQuery& query) {
  return statement.Query(query.resource, query.namespace_name, query.name, query.job, query.owner,
                         query.after.first, query.after.second, query.release);
}

class SqliteCursor final : public ListCursor {
 public:
  static base::Result<std::unique_ptr<ListCursor>> Open(ReaderPool& pool, ListQuery query) {
    TRY_ASSIGN(auto reader, pool.Take());
    std::unique_ptr<SqliteCursor> cursor(
        new SqliteCursor(pool, std::move(reader), std::move(query)));
    TRY(cursor->Begin());
    return cursor;
  }
  ~SqliteCursor() override {
    // The connection is returned without a snapshot.
    rows_.reset();
    snapshot_.reset();
    if (is_long_) pool_.TakeBackFromLong(std::move(reader_));
  }

  int64_t version() const override { return version_; }
  base::Result<std::optional<Row>> Next() override {
    TRY_ASSIGN(const bool has_row, rows_->Next());
    if (!has_row) return std::optional<Row>();
    return std::optional(Row{rows_->Text(0), rows_->Text(1), rows_->Int(2), rows_->Text(3)});
  }
  void StayLong() override {
    if (!std::exchange(is_long_, true)) pool_.LendForLong();
  }

 private:
  SqliteCursor(ReaderPool& pool, ReaderPool::Lease reader, ListQuery query)
      : pool_(pool), reader_(std::move(reader)), query_(std::move(query)) {}

  base::Status Begin() {
    snapshot_.emplace(reader_->version.Query());
    TRY_ASSIGN(version_, VersionOf(*snapshot_));
    TRY_ASSIGN(Statement* const statement, reader_->Prepared(ListSql(query_)));
    rows_.emplace(Run(*statement, query_));
    return {};
  }

  ReaderPool& pool_;
  ReaderPool::Lease reader_;
  const ListQuery query_;  // bound in the statement
  // As long as these are open, all that the connection reads is of one snapshot.
  std::optional<Rows> snapshot_;
  std::optional<Rows> rows_;
  int64_t version_ = 0;
  bool is_long_ = false;
};

class SqliteStore : public Store {
 public:
  SqliteStore(const std::string& path, int64_t version, Options& options)
      : last_reserve_{Reserve(options.reserve)},
        history_(version),
        readers_(path, std::exchange(options.reader, std::nullopt)),
        path_(path) {}

  base::Status Start(Database database, int64_t version, Options options) {
    TRY_ASSIGN(writer_, Writer::Start(std::move(database), version, history_, std::move(options)));
    return {};
  }

  void Submit(Mutation mutation, Done done) override {
    std::vector<Writer::Job> jobs;
    jobs.emplace_back(std::move(mutation), std::move(done));
    writer_->Submit(std::move(jobs));
  }
  void SubmitAll(std::vector<std::pair<Mutation, Done>> mutations) override {
    writer_->Submit(std::move(mutations));
  }

  base::Result<std::string> Get(const Key& key) override {
    TRY_ASSIGN(const auto reader, readers_.Take());
    Rows rows = reader->get.Query(key.resource, key.namespace_name, key.name);
    TRY_ASSIGN(const bool has_row, rows.Next());
    if (!has_row) {
      return base::Fail(base::Code::kNotFound, key.resource + " \"" + key.name + "\" not found");
    }
    return std::string(rows.Text(0));
  }

  base::Result<int64_t> List(const ListQuery& query,
                             const std::function<bool(const Row&)>& visit) override {
    TRY_ASSIGN(const auto cursor, SqliteCursor::Open(readers_, query));
    while (true) {
      TRY_ASSIGN(const std::optional<Row> row, cursor->Next());
      if (!row || !visit(*row)) break;
    }
    return cursor->version();
  }

  base::Result<std::unique_ptr<ListCursor>> OpenList(const ListQuery& query) override {
    return SqliteCursor::Open(readers_, query);
  }

  base::Result<int64_t> Count(const ListQuery& query) override {
    TRY_ASSIGN(const auto reader, readers_.Take());
    TRY_ASSIGN(Statement* const statement, reader->Prepared(CountSql(query)));
    Rows rows = Run(*statement, query);
    TRY_ASSIGN(const bool has_row, rows.Next());
    return has_row ? rows.Int(0) : 0;
  }

  base::Result<Fate> FateOf(std::string_view uid) override {
    TRY_ASSIGN(const auto reader, readers_.Take());
    Rows rows = reader->fate.Query(uid);
    TRY(rows.Next());
    if (rows.Int(0) != 0) return Fate::kStored;
    return rows.Int(1) != 0 ? Fate::kDeleted : Fate::kUnknown;
  }

  base::Result<std::vector<Kept>> ListKept(const KeptQuery& query) override {
    TRY_ASSIGN(const auto reader, readers_.Take());
    std::string sql = KeptSql(query, "uid, run, resource, namespace, name, created, deleted, json");
    // The creation of pods is known to the second. If two have the same name, the later one is
    // deleted later.
    sql += query.run.empty() ? " ORDER BY created DESC, deleted DESC, uid DESC"
                             : " ORDER BY created, deleted, uid";
    if (query.limit > 0) sql += fmt::format(" LIMIT {}", query.limit);
    TRY_ASSIGN(Statement statement, reader->database.Prepare(sql));
    Rows rows = Run(statement, query);
    std::vector<Kept> found;
    while (true) {
      TRY_ASSIGN(const bool has_row, rows.Next());
      if (!has_row) return found;
      const auto text = [&rows](int column) { return std::string(rows.Text(column)); };
      found.push_back(
          {text(0), text(1), text(2), text(3), text(4), rows.Int(5), rows.Int(6), text(7)});
    }
  }

  base::Result<std::vector<std::string>> NewestKept(int64_t limit) override {
    TRY_ASSIGN(const auto reader, readers_.Take());
    TRY_ASSIGN(Statement statement,
               reader->database.Prepare("SELECT uid FROM kept WHERE uid = run "
                                        "ORDER BY created DESC, uid DESC LIMIT ?1"));
    Rows rows = statement.Query(limit);
    std::vector<std::string> uids;
    while (true) {
      TRY_ASSIGN(const bool has_row, rows.Next());
      if (!has_row) return uids;
      uids.emplace_back(rows.Text(0));
    }
  }

  base::Result<int64_t> CountKept(const KeptQuery& query) override {
    TRY_ASSIGN(const auto reader, readers_.Take());
    TRY_ASSIGN(Statement statement, reader->database.Prepare(KeptSql(query, "count(*)")));
    Rows rows = Run(statement, query);
    TRY_ASSIGN(const bool has_row, rows.Next());
    return has_row ? rows.Int(0) : 0;
  }

  base::Status Forget(const std::vector<std::string>& runs) override {
    TRY_ASSIGN(Database database, Database::Open(path_));
    TRY_ASSIGN(Transaction transaction, Transaction::Begin(database));
    TRY_ASSIGN(Statement forget, database.Prepare("DELETE FROM kept WHERE run=?"));
    for (const std::string& run : runs) TRY(forget.Run(std::string_view(run)));
    return transaction.Commit();
  }

  base::Result<int64_t> Version() override {
    TRY_ASSIGN(const auto reader, readers_.Take());
    return ReadVersion(reader->version);
  }

  base::Result<std::unique_ptr<Subscription>> Watch(const std::string& resource,
                                                    const std::string& namespace_name,
                                                    int64_t from_version,
                                                    WatchCallback callback) override {
    TRY_ASSIGN(const int64_t newest, Version());
    if (from_version > newest) {
      return base::Fail(base::Code::kExpired, "resource version " + std::to_string(from_version) +
                                                  " does not belong to this cluster's state");
    }
    return history_.Watch(resource, namespace_name, from_version, std::move(callback));
  }

 private:
  // The side files have just been deleted: the next start needs their space.
  struct LastReserve {
    Reserve reserve;
    ~LastReserve() { reserve.KeepLast(); }
  };
  LastReserve last_reserve_;  // first: runs when all connections are closed
  History history_;
  ReaderPool readers_;
  const std::string path_;
  std::unique_ptr<Writer> writer_;  // last: ends first
};

// Reading needs a side file of 32 KB, too: kExhausted on a full disk.
base::Result<Database> OpenDatabase(const std::string& path) {
  TRY_ASSIGN(Database database, Database::Open(path));
  if (auto status = Migrate(database); !status) {
    return base::Fail(status.error().Wrap("open the store \"" + path + "\""));
  }
  return database;
}

}  // namespace

base::Result<std::unique_ptr<Store>> Store::Open(const std::string& path) {
  return Open(path, Options{});
}

base::Result<std::unique_ptr<Store>> Store::Open(const std::string& path, Options options) {
  Reserve reserve(options.reserve);
  auto opened = OpenDatabase(path);
  while (!opened && opened.error().code == base::Code::kExhausted && reserve.Release()) {
    opened = OpenDatabase(path);
  }
  TRY_ASSIGN(Database database, std::move(opened));
  TRY(database.LimitSize(options.max_bytes));
  int64_t version = 0;
  {
    TRY_ASSIGN(Statement statement, database.Prepare("SELECT version FROM revision"));
    TRY_ASSIGN(version, ReadVersion(statement));
  }
  auto store = std::make_unique<SqliteStore>(path, version, options);
  TRY(store->Start(std::move(database), version, std::move(options)));
  return store;
}

}  // namespace local::store
