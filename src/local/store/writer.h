// The write side of the store: one connection, one thread, transactions of many mutations.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/result.h"
#include "local/store/history.h"
#include "local/store/object.h"
#include "local/store/sqlite.h"
#include "local/store/store.h"

namespace local::store {

class Writer {
 public:
  using Job = std::pair<Mutation, Store::Done>;

  // `version` is that of the file. Borrows `history`.
  static base::Result<std::unique_ptr<Writer>> Start(Database database, int64_t version,
                                                     History& history, Store::Options options);
  ~Writer();  // carries out the queued mutations

  void Submit(std::vector<Job> jobs);

 private:
  class Session;  // a transaction's statements, View and events
  struct Committed {
    std::vector<base::Result<Outcome>> outcomes;
    std::vector<EventPtr> events;
    std::vector<std::shared_ptr<const text::Json>> objects;  // of the events
    int64_t version = 0;
  };

  Writer(History& history, Store::Options options);
  void Run();
  void Carry(std::vector<Job>& group);
  // On a full disk, tries again with space from the reserve.
  base::Result<Committed> CommitInRoom(const std::vector<Job>& group, size_t first, size_t count);
  base::Result<Committed> TryCommit(const std::vector<Job>& group, size_t first, size_t count);
  void Announce(std::vector<Job>& group, size_t first, Committed committed);

  History& history_;
  const Store::Options options_;
  std::unique_ptr<Session> session_;

  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<Job> queue_;
  bool is_stopping_ = false;
  std::thread thread_;
};

}  // namespace local::store
