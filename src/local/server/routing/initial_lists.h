// What exists, as the first events of watches: read on a thread of its own, once for all watchers
// that ask for the same at about the same time, and no faster than they take it.
//
//   Join --> boarding (by key) --a slot is free--> read a piece --> write it to each --> all have
//                                                     ^                     taken it --+--> Arrive
//                                                     `-------------------------------'
//
// Whoever does not take a piece in time is left behind (410), so that the others need not wait.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "local/server/routing/api_error.h"
#include "local/server/routing/timers.h"
#include "local/store/store.h"
#include "net/http/types.h"

namespace local::server {

// Watchers that wait for a list or are sent one, in all; beyond, they are told to come again.
inline constexpr size_t kMaxListWatchers = 512;
// Lists under way at once; each holds a snapshot of the store.
inline constexpr size_t kMaxInitialLists = 4;
// Sent to each watcher before all have taken the last.
inline constexpr size_t kInitialPieceBytes = 128 << 10;
// A watcher has this long to take a piece.
inline constexpr std::chrono::seconds kInitialPieceTime{10};

// Thread safe.
class InitialLists {
 public:
  // One watcher. Called on the lists' thread, and not after Arrive, Fail or Lag.
  class Watcher {
   public:
    virtual ~Watcher() = default;
    virtual net::Responder& responder() = 0;
    // The list is about to begin: nothing up to now will be missing.
    virtual void Begin() = 0;
    virtual void Write(const std::string& piece) = 0;
    // All was written; it is of that version. `has_rows`: `put` has made lines.
    virtual void Arrive(int64_t version, bool has_rows) = 0;
    virtual void Fail(const ApiError& error) = 0;
  };
  // What a list is of; the same for all that give the same key.
  struct Source {
    store::ListQuery query;
    // Appends a row's lines; nothing of a row that is not wanted.
    std::function<void(const store::Row& row, std::string& lines)> put;
    std::function<std::string(int64_t version)> end;  // the last lines
  };

  // Both outlive this.
  InitialLists(store::Store& store, std::shared_ptr<Timers> timers);
  ~InitialLists();  // drops who has not arrived

  // Returns at once; false when too many watchers wait. `make` is called on this thread, for the
  // first of a key.
  bool Join(const std::string& key, const std::function<Source()>& make,
            std::shared_ptr<Watcher> watcher);

 private:
  struct List;
  class State;

  const std::shared_ptr<State> state_;
};

}  // namespace local::server
