#include "local/server/backend/initial_lists.h"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace local::server {

// Used by the lists' thread only, once it has left boarding.
struct InitialLists::List {
  Source source;
  std::vector<std::shared_ptr<Watcher>> watchers;
  std::unique_ptr<store::ListCursor> cursor;
  int64_t version = 0;
  bool has_rows = false;
  uint64_t leg = 0;  // how many pieces were sent
  std::optional<Timers::Id> timer;
};

class InitialLists::State : public std::enable_shared_from_this<InitialLists::State> {
 public:
  State(store::Store& store, const std::shared_ptr<Timers>& timers)
      : store_(store), timers_(timers) {}

  void Start() {
    thread_ = std::thread([this] { Run(); });
  }
  void Stop() {
    {
      const std::lock_guard lock(mutex_);
      is_stopping_ = true;
    }
    changed_.notify_one();
    thread_.join();
    boarding_.clear();
    waiting_.clear();
    legs_.clear();
    // Responders keep references to their lists while they wait for their peers.
    for (const auto& list : under_way_) {
      list->cursor.reset();
      list->watchers.clear();
    }
  }

  bool Join(const std::string& key, const std::function<Source()>& make,
            std::shared_ptr<Watcher> watcher) {
    {
      const std::lock_guard lock(mutex_);
      if (is_stopping_ || watchers_ >= kMaxListWatchers) return false;
      std::shared_ptr<List>& list = boarding_[key];
      if (!list) {
        list = std::make_shared<List>();
        list->source = make();
        waiting_.push_back(list);
      }
      list->watchers.push_back(std::move(watcher));
      ++watchers_;
    }
    changed_.notify_one();
    return true;
  }

 private:
  // A list whose watchers have read piece number `leg`, or have had the time for it.
  struct Leg {
    std::shared_ptr<List> list;
    uint64_t leg = 0;
  };

  void Run() {
    std::unique_lock lock(mutex_);
    while (true) {
      const bool has_slot = under_way_.size() < kMaxInitialLists;
      if (is_stopping_) return;
      if (!legs_.empty()) {
        const Leg leg = std::move(legs_.front());
        legs_.pop_front();
        lock.unlock();
        if (leg.leg == leg.list->leg) Continue(leg.list);
        lock.lock();
      } else if (has_slot && !waiting_.empty()) {
        const std::shared_ptr<List> list = std::move(waiting_.front());
        waiting_.pop_front();
        std::erase_if(boarding_, [&](const auto& entry) { return entry.second == list; });
        under_way_.push_back(list);
        lock.unlock();
        Leave(list);
        lock.lock();
      } else {
        changed_.wait(lock);
      }
    }
  }

  void Leave(const std::shared_ptr<List>& list) {
    auto cursor = store_.OpenList(list->source.query);
    if (!cursor) {
      for (const auto& watcher : list->watchers) watcher->Fail(FromError(cursor.error()));
      return End(list);
    }
    list->cursor = std::move(*cursor);
    list->cursor->StayLong();
    list->version = list->cursor->version();
    for (const auto& watcher : list->watchers) watcher->Begin();
    Continue(list);
  }

  void Continue(const std::shared_ptr<List>& list) {
    CancelTimer(*list);
    if (list->leg++ > 0) LeaveBehind(*list);
    if (list->watchers.empty()) return End(list);
    std::string piece;
    const auto has_more = Read(*list, piece);
    if (!has_more) {
      for (const auto& watcher : list->watchers) watcher->Fail(FromError(has_more.error()));
      return End(list);
    }
    for (const auto& watcher : list->watchers) watcher->Write(piece);
    if (*has_more) return AwaitAll(list);
    list->cursor.reset();
    for (const auto& watcher : list->watchers) watcher->Arrive(list->version, list->has_rows);
    End(list);
  }

  // Drops watchers that are gone or have not read the last piece in time.
  void LeaveBehind(List& list) {
    const size_t before = list.watchers.size();
    std::erase_if(list.watchers, [](const std::shared_ptr<Watcher>& watcher) {
      if (watcher->responder().IsClosed()) return true;
      if (watcher->responder().PendingBytes() <= kInitialPieceBytes) return false;
      watcher->Fail(Expired("the client did not read the initial list in time: watch again"));
      return true;
    });
    Forget(before - list.watchers.size());
  }

  static base::Result<bool> Read(List& list, std::string& piece) {
    while (piece.size() < kInitialPieceBytes) {
      TRY_ASSIGN(const std::optional<store::Row> row, list.cursor->Next());
      if (!row) {
        piece += list.source.end(list.version);
        return false;
      }
      list.source.put(*row, piece);
      list.has_rows = list.has_rows || !piece.empty();
    }
    return true;
  }

  void AwaitAll(const std::shared_ptr<List>& list) {
    const auto go_on = [weak = weak_from_this(), leg = Leg{list, list->leg}] {
      if (const auto self = weak.lock()) self->Enqueue(leg);
    };
    if (const auto timers = timers_.lock()) list->timer = timers->After(kInitialPieceTime, go_on);
    // One more, for this loop: the count must not reach zero before the loop ends.
    const auto left = std::make_shared<std::atomic<size_t>>(list->watchers.size() + 1);
    const auto count = [left, go_on] {
      if (left->fetch_sub(1) == 1) go_on();
    };
    for (const auto& watcher : list->watchers) {
      watcher->responder().WhenTaken(kInitialPieceBytes, count);
    }
    count();
  }

  void Enqueue(Leg leg) {
    {
      const std::lock_guard lock(mutex_);
      if (is_stopping_) return;
      legs_.push_back(std::move(leg));
    }
    changed_.notify_one();
  }

  void End(const std::shared_ptr<List>& list) {
    CancelTimer(*list);
    list->cursor.reset();
    Forget(std::exchange(list->watchers, {}).size());
    const std::lock_guard lock(mutex_);
    std::erase(under_way_, list);
  }

  void Forget(size_t watchers) {
    const std::lock_guard lock(mutex_);
    watchers_ -= watchers;
  }

  void CancelTimer(List& list) {
    const std::optional<Timers::Id> timer = std::exchange(list.timer, std::nullopt);
    const auto timers = timers_.lock();
    if (timer && timers) timers->Cancel(*timer);
  }

  store::Store& store_;
  const std::weak_ptr<Timers> timers_;
  std::thread thread_;

  std::mutex mutex_;  // guards the members below
  std::condition_variable changed_;
  bool is_stopping_ = false;
  std::map<std::string, std::shared_ptr<List>> boarding_;  // these wait for a slot
  std::deque<std::shared_ptr<List>> waiting_;
  std::deque<Leg> legs_;
  std::vector<std::shared_ptr<List>> under_way_;
  size_t watchers_ = 0;
};

InitialLists::InitialLists(store::Store& store, std::shared_ptr<Timers> timers)
    : state_(std::make_shared<State>(store, timers)) {
  state_->Start();
}

InitialLists::~InitialLists() { state_->Stop(); }

bool InitialLists::Join(const std::string& key, const std::function<Source()>& make,
                        std::shared_ptr<Watcher> watcher) {
  return state_->Join(key, make, std::move(watcher));
}

}  // namespace local::server
