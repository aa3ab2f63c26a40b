// The embedded cluster's state: objects as JSON in one SQLite file. One writer thread commits what
// was submitted in groups; a write is acknowledged after it is durable; reads run on any thread
// beside it, each on one snapshot. No object is kept in memory. Thread safe.
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

namespace local::store {

// Mutations that may wait for the writer; above, Submit answers kUnavailable.
inline constexpr size_t kMaxQueuedMutations = 20'000;
// Mutations that one transaction carries.
inline constexpr size_t kMaxGroup = 256;
// Mutations whose ids are remembered, across restarts: who lost an answer asks again in seconds.
inline constexpr int64_t kRememberedWrites = 1024;
// A longer outcome is remembered without its object; the object as it stands is given in its place.
inline constexpr size_t kMaxRememberedBytes = 64 << 10;
// Read connections; further readers wait for one.
inline constexpr size_t kMaxReaders = 4;

struct ListQuery {
  std::string resource = {};
  // "" is no restriction.
  std::string namespace_name = {};
  std::string name = {};
  std::string job = {};      // value of the label training.kubeflow.org/job-name, else release
  std::string owner = {};    // uid
  std::string release = {};  // value of the label of that name
  // Only what comes after, by namespace then name.
  std::pair<std::string, std::string> after = {};
};

// What became of the object with a uid. kDeleted is remembered of what has a folder on the machine
// (pods, and what owns them), until ForgetDeleted.
enum class Fate { kUnknown, kStored, kDeleted };

// An object on disk, borrowed for the visit.
struct Row {
  std::string_view namespace_name;
  std::string_view name;
  int64_t version = 0;
  std::string_view json;
};

// The rows that a list finds, on one snapshot, read when they are asked for. One thread at a time.
// While it lives the database file keeps what was overwritten since: not for long.
class ListCursor {
 public:
  virtual ~ListCursor() = default;
  // Of the snapshot: nothing up to it is missing, nothing after it was seen.
  virtual int64_t version() const = 0;
  // Nothing at the end. The row is borrowed until the next call.
  virtual base::Result<std::optional<Row>> Next() = 0;
  // Whoever reads on for longer than a moment says so: others get a connection in its place.
  virtual void StayLong() = 0;
};

class Store {
 public:
  struct Options {
    // What the file may grow to, 0 is no limit; beyond, writes fail with kExhausted.
    int64_t max_bytes = 0;
    // A file of room that is kept back for the day on which the disk is full (reserve.h): then what
    // is there can be changed and deleted, and nothing new is made. "" is none.
    std::string reserve = {};
    // Called on the writer thread after each commit, before anybody is told of it.
    std::function<void(std::span<const EventPtr> events, int64_t version)> on_commit = {};
  };
  using Done = std::function<void(base::Result<Outcome>)>;

  // Makes the file (mode 0600) when absent and brings an older one up to date. kPermissionDenied
  // and the like name the path; kInvalidArgument when a newer muster wrote it.
  static base::Result<std::unique_ptr<Store>> Open(const std::string& path);
  static base::Result<std::unique_ptr<Store>> Open(const std::string& path, Options options);
  virtual ~Store() = default;  // carries out what was submitted

  // Returns at once. `done` runs on the writer thread when the outcome is durable, before watchers
  // are told, in the order of submission; or on this one when too many wait. Mutations submitted
  // together share commits.
  virtual void Submit(Mutation mutation, Done done) = 0;
  virtual void SubmitAll(std::vector<std::pair<Mutation, Done>> mutations) = 0;

  // The object's JSON. kNotFound.
  virtual base::Result<std::string> Get(const Key& key) = 0;
  // Calls `visit` for what matches, by namespace then name, until it returns false. Returns the
  // version of the snapshot: nothing up to it is missing, nothing after it was seen. `visit` must
  // not read from the store.
  virtual base::Result<int64_t> List(const ListQuery& query,
                                     const std::function<bool(const Row&)>& visit) = 0;
  // The same, row by row; by namespace then name. The store outlives it.
  virtual base::Result<std::unique_ptr<ListCursor>> OpenList(const ListQuery& query) = 0;
  virtual base::Result<int64_t> Count(const ListQuery& query) = 0;
  virtual base::Result<Fate> FateOf(std::string_view uid) = 0;
  // Runs that are over, and what is left of their pods.
  virtual base::Result<std::vector<Kept>> ListKept(const KeptQuery& query) = 0;
  virtual base::Result<int64_t> CountKept(const KeptQuery& query) = 0;
  // Forgets these runs with their pods. Durable when it returns.
  virtual base::Status Forget(const std::vector<std::string>& runs) = 0;
  // The newest version that is durable.
  virtual base::Result<int64_t> Version() = 0;

  // See History::Watch. kExpired too when `from_version` lies in the future.
  virtual base::Result<std::unique_ptr<Subscription>> Watch(const std::string& resource,
                                                            const std::string& namespace_name,
                                                            int64_t from_version,
                                                            WatchCallback callback) = 0;
};

}  // namespace local::store
