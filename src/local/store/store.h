// The embedded cluster's state: objects as JSON in one SQLite file. One writer thread commits
// submitted mutations in groups and acknowledges a write once it is durable. Reads run on any
// thread in parallel, each on one snapshot. No object is kept in memory. Thread safe.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "local/store/history.h"
#include "local/store/kept.h"
#include "local/store/object.h"
#include "local/store/sqlite.h"

namespace local::store {

// The most mutations that may wait for the writer; beyond, Submit answers kUnavailable.
inline constexpr size_t kMaxQueuedMutations = 20'000;
// The most mutations in one transaction.
inline constexpr size_t kMaxGroup = 256;
// How many mutation ids are remembered, across restarts: a client that lost an answer asks again
// within seconds.
inline constexpr int64_t kRememberedWrites = 1024;
// A longer outcome is remembered without its object, and answered with the present object.
inline constexpr size_t kMaxRememberedBytes = 64 << 10;
// Read connections; further readers wait for one of them.
inline constexpr size_t kMaxReaders = 4;

struct ListQuery {
  std::string resource = {};
  // "": no restriction.
  std::string namespace_name = {};
  std::string name = {};
  std::string job = {};      // value of the label training.kubeflow.org/job-name, otherwise of
                             // release
  std::string owner = {};    // uid
  std::string release = {};  // value of the label release
  // Only objects after this one, sorted by namespace and name.
  std::pair<std::string, std::string> after = {};
};

// What became of the object with a uid. kDeleted is remembered until ForgetDeleted, for objects
// that have a folder on the machine (pods and their owners).
enum class Fate { kUnknown, kStored, kDeleted };

// An object on disk, valid during the visit.
struct Row {
  std::string_view namespace_name;
  std::string_view name;
  int64_t version = 0;
  std::string_view json;
};

// The rows of a list on one snapshot, read as they are requested. One thread at a time. While it
// lives, the database file keeps all overwritten pages, so it must not live long.
class ListCursor {
 public:
  virtual ~ListCursor() = default;
  // The version of the snapshot: everything up to it is included, nothing after it.
  virtual int64_t version() const = 0;
  // Nullopt at the end. The row is valid until the next call.
  virtual base::Result<std::optional<Row>> Next() = 0;
  // To be called by a slow reader: other readers get a connection in place of this one.
  virtual void StayLong() = 0;
};

class Store {
 public:
  struct Options {
    // The largest size of the file, 0: no limit; beyond it, writes fail with kExhausted.
    int64_t max_bytes = 0;
    // The file that reserves disk space (reserve.h). When the disk is full, existing objects can
    // still be changed and deleted, but nothing new is created. "": none.
    std::string reserve = {};
    // A connection for reading the file, which is there already (upkeep.h: Check): opening one
    // takes as long as a dozen reads.
    std::optional<Database> reader = {};
    // Called on the writer thread after each commit, before any watcher is notified.
    std::function<void(std::span<const EventPtr> events, int64_t version)> on_commit = {};
  };
  using Done = std::function<void(base::Result<Outcome>)>;

  // Creates the file (mode 0600) when absent, and migrates an older one. kPermissionDenied and
  // similar errors name the path; kInvalidArgument when a newer muster wrote it.
  static base::Result<std::unique_ptr<Store>> Open(const std::string& path);
  static base::Result<std::unique_ptr<Store>> Open(const std::string& path, Options options);
  virtual ~Store() = default;  // carries out all submitted mutations

  // Returns at once. `done` runs on the writer thread once the outcome is durable, before watchers
  // are told, in the order of submission; or on the calling thread when too many mutations wait.
  // Mutations submitted together share commits.
  virtual void Submit(Mutation mutation, Done done) = 0;
  virtual void SubmitAll(std::vector<std::pair<Mutation, Done>> mutations) = 0;

  // The object's JSON. kNotFound.
  virtual base::Result<std::string> Get(const Key& key) = 0;
  // Calls `visit` for the matches, sorted by namespace and name, until it returns false. Returns
  // the version of the snapshot: everything up to it is included, nothing after it. `visit` must
  // not read from the store.
  virtual base::Result<int64_t> List(const ListQuery& query,
                                     const std::function<bool(const Row&)>& visit) = 0;
  // The same, row by row. The store must outlive the cursor.
  virtual base::Result<std::unique_ptr<ListCursor>> OpenList(const ListQuery& query) = 0;
  virtual base::Result<int64_t> Count(const ListQuery& query) = 0;
  virtual base::Result<Fate> FateOf(std::string_view uid) = 0;
  // Finished runs, and the remains of their pods.
  virtual base::Result<std::vector<Kept>> ListKept(const KeptQuery& query) = 0;
  // The uids of the newest `limit` kept jobs, the newest first, without reading the jobs.
  virtual base::Result<std::vector<std::string>> NewestKept(int64_t limit) = 0;
  virtual base::Result<int64_t> CountKept(const KeptQuery& query) = 0;
  // Removes these runs with their pods. Durable when it returns.
  virtual base::Status Forget(const std::vector<std::string>& runs) = 0;
  // The newest durable version.
  virtual base::Result<int64_t> Version() = 0;

  // See History::Watch. Also kExpired when `from_version` lies in the future.
  virtual base::Result<std::unique_ptr<Subscription>> Watch(const std::string& resource,
                                                            const std::string& namespace_name,
                                                            int64_t from_version,
                                                            WatchCallback callback) = 0;
};

}  // namespace local::store
