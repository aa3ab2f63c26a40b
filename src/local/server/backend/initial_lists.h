// The initial events of watches, for the objects that exist: read on a thread of its own, once for
// all watchers that request the same at about the same time, and no faster than they read them.
//
//   Join --> boarding (by key) --a slot is free--> read a piece --> write it to each --> all have
//                                                     ^                     read it ----+--> Arrive
//                                                     `-------------------------------'
//
// A watcher that does not read a piece in time is dropped (410), so that the others need not wait.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "local/server/backend/timers.h"
#include "local/server/request/api_error.h"
#include "local/store/store.h"
#include "net/http/types.h"

namespace local::server {

// How many watchers may wait for a list or receive one; others are told to try again.
inline constexpr size_t kMaxListWatchers = 512;
// Lists in progress at a time; each holds a snapshot of the store.
inline constexpr size_t kMaxInitialLists = 4;
// The next piece is sent once all watchers have read the previous one.
inline constexpr size_t kInitialPieceBytes = 128 << 10;
// How long a watcher may take to read a piece.
inline constexpr std::chrono::seconds kInitialPieceTime{10};

// Thread safe.
class InitialLists {
 public:
  // One watcher. Called on the lists' thread, and never after Arrive, Fail or Lag.
  class Watcher {
   public:
    virtual ~Watcher() = default;
    virtual net::Responder& responder() = 0;
    // The list is about to begin: no later event will be missing.
    virtual void Begin() = 0;
    virtual void Write(const std::string& piece) = 0;
    // Everything has been written, as of `version`. `has_rows`: `put` has produced lines.
    virtual void Arrive(int64_t version, bool has_rows) = 0;
    virtual void Fail(const ApiError& error) = 0;
  };
  // How to read a list; the same for all watchers with the same key.
  struct Source {
    store::ListQuery query;
    // Appends the lines of a row; none for an unwanted row.
    std::function<void(const store::Row& row, std::string& lines)> put;
    std::function<std::string(int64_t version)> end;  // the last lines
  };

  // Both must outlive this.
  InitialLists(store::Store& store, std::shared_ptr<Timers> timers);
  ~InitialLists();  // drops the watchers whose lists are incomplete

  // Returns at once; false when too many watchers wait. Calls `make` on this thread, for the first
  // watcher of a key.
  bool Join(const std::string& key, const std::function<Source()>& make,
            std::shared_ptr<Watcher> watcher);

 private:
  struct List;
  class State;

  const std::shared_ptr<State> state_;
};

}  // namespace local::server
