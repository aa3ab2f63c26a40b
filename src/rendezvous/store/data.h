// The contents of a store and the clients that wait for them: the semantics of TCPStore, without
// sockets. Pure, except that it calls Clients; time is an argument. One thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "rendezvous/sockets/output_queue.h"
#include "rendezvous/store/protocol.h"

namespace rendezvous {

using StoreClientId = uint32_t;  // counts up from 1; a server never reuses one
using SteadyTime = std::chrono::steady_clock::time_point;

class StoreData {
 public:
  // The connections, as StoreData sees them.
  class Clients {
   public:
    virtual ~Clients() = default;
    // The output of a client other than the one being served; null when that client is gone.
    // Appended bytes are sent after the request that caused them.
    virtual OutputQueue* OutputOf(StoreClientId client) = 0;
  };

  // A client that waits (WAIT, BARRIER), or polls a counter by adding 0 to it (as the barriers of
  // torch up to 2.0 do).
  struct Waiter {
    StoreClientId client = 0;
    std::vector<std::string> keys;  // those still missing
    SteadyTime since;
    int64_t barrier_size = 0;  // of a BARRIER: how many clients it waits for
    bool is_polling = false;
  };
  struct Key {
    std::string key;
    std::string value;  // at most kShownBytes
    size_t value_bytes = 0;
    std::vector<StoreClientId> writers;  // clients that have set it or added to it, ascending
  };
  static constexpr size_t kShownBytes = 64;

  // `max_bytes` limits keys, values, waits and watches together.
  StoreData(Clients& clients, uint64_t max_bytes) : clients_(clients), max_bytes_(max_bytes) {}

  // Carries out one request and appends the answer to `out`. An error is the client's fault and
  // ends its connection; the data is unchanged, even by a MULTI_SET. kExhausted: over max_bytes.
  base::Status Apply(StoreClientId client, StoreDialect dialect, const StoreRequest& request,
                     SteadyTime now, OutputQueue& out);
  // The connection is gone: drops its waits.
  void Forget(StoreClientId client);
  // Removes all keys and queues.
  void Clear();

  size_t key_count() const { return values_.size(); }
  uint64_t bytes() const { return bytes_ + waiting_bytes_; }
  std::vector<Key> Keys() const;
  // Polling clients are included only if they have polled since `polled_after`.
  std::vector<Waiter> Waiters(SteadyTime polled_after) const;

 private:
  struct TextHash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  template <typename T>
  using ByText = std::unordered_map<std::string, T, TextHash, std::equal_to<>>;

  struct Value {
    std::string text;
    std::shared_ptr<const std::string> shared;  // instead of text, when large
    StoreClientId first_writer = 0;
    std::unique_ptr<std::vector<StoreClientId>> writers;  // allocated once there is a second writer
    std::string_view view() const { return shared ? std::string_view(*shared) : text; }
  };
  struct Wait {
    std::vector<std::string> keys;
    size_t missing = 0;
    SteadyTime since;
    int64_t barrier_size = 0;
    uint64_t bytes = 0;
  };
  struct Poll {
    std::string key;
    SteadyTime since;
    SteadyTime last;
  };

  base::Status Set(StoreClientId client, std::string_view key, std::string_view value);
  base::Status MultiSet(StoreClientId client, const StoreRequest& request);
  base::Status CompareSet(StoreClientId client, const StoreRequest& request, OutputQueue& out);
  base::Status Add(StoreClientId client, const StoreRequest& request, SteadyTime now,
                   OutputQueue& out);
  base::Result<int64_t> AddTo(StoreClientId client, std::string_view key, int64_t delta);
  base::Status Append(StoreClientId client, std::string_view key, std::string_view value);
  base::Status Barrier(StoreClientId client, const StoreRequest& request, SteadyTime now,
                       OutputQueue& out);
  base::Status Push(StoreClientId client, std::string_view key, std::string_view value);
  void Pop(std::string_view key, OutputQueue& out);
  void Delete(std::string_view key, OutputQueue& out);
  base::Status WaitFor(StoreClientId client, const StoreRequest& request, SteadyTime now,
                       OutputQueue& out);
  void CancelWait(StoreClientId client);
  base::Status Watch(StoreClientId client, std::string_view key, OutputQueue& out);
  void Send(std::string_view key, OutputQueue& out) const;
  void SendAll(const std::vector<std::string_view>& keys, OutputQueue& out);
  base::Status SendKeys(OutputQueue& out) const;
  bool IsThere(std::string_view key) const;

  // Whether an entry of `before` bytes may grow to `after`.
  base::Status CheckRoom(uint64_t before, uint64_t after) const;
  uint64_t BytesOf(std::string_view key) const;  // 0 when it has no value
  base::Status Store(StoreClientId client, std::string_view key, std::string&& value);
  void Put(StoreClientId client, std::string_view key, std::string&& value);
  static void Remember(Value& value, StoreClientId client);
  void NotifyWatchers(std::string_view key, uint8_t event, std::string_view before,
                      std::string_view after);
  // Ends the waits for which this was the last missing key; with `only_one`, at most one of them.
  void Wake(std::string_view key, bool only_one = false);

  Clients& clients_;
  uint64_t max_bytes_;
  uint64_t bytes_ = 0;
  uint64_t waiting_bytes_ = 0;
  ByText<Value> values_;
  ByText<std::deque<std::string>> queues_;
  ByText<std::vector<StoreClientId>> waiting_;  // by key; may contain clients that no longer wait
  ByText<std::vector<StoreClientId>> watching_;
  std::unordered_map<StoreClientId, Wait> waits_;
  std::unordered_map<StoreClientId, Poll> polls_;
};

}  // namespace rendezvous
