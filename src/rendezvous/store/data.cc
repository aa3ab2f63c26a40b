#include "rendezvous/store/data.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <unordered_map>

namespace rendezvous {
namespace {

// Responses of one byte.
constexpr uint8_t kReady = 0;
constexpr uint8_t kNotReady = 1;
constexpr uint8_t kStopWaiting = 0;
constexpr uint8_t kWaitCanceled = 1;
// What watchers are sent (torch up to 2.0).
constexpr uint8_t kKeyUpdated = 0;
constexpr uint8_t kKeyCreated = 1;
constexpr uint8_t kKeyDeleted = 2;
constexpr uint8_t kCallbackRegistered = 3;

// Values from this size on are shared between the store and its answers.
constexpr size_t kSharedFrom = 32 << 10;
// The most bytes of smaller values that one answer copies.
constexpr size_t kMaxCopied = 1 << 20;
// The largest answer that lists all keys.
constexpr uint64_t kMaxKeyList = 256 << 20;
// The bytes that a wait or a watch takes in addition to its key.
constexpr uint64_t kWaitBytes = 128;

void AppendText(OutputQueue& out, std::string_view text) {
  out.AppendNumber(static_cast<uint64_t>(text.size()));
  out.Append(text);
}

// Parses as std::stoll does: leading blanks and a sign, and any trailing text.
std::optional<int64_t> ReadCounter(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\n\v\f\r");
  if (begin == std::string_view::npos) return std::nullopt;
  text.remove_prefix(begin);
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  return number;
}

}  // namespace

bool StoreData::IsThere(std::string_view key) const {
  if (values_.find(key) != values_.end()) return true;
  const auto queue = queues_.find(key);
  return queue != queues_.end() && !queue->second.empty();
}

void StoreData::Remember(Value& value, StoreClientId client) {
  if (value.first_writer == 0) value.first_writer = client;
  if (value.first_writer == client) return;
  if (!value.writers) value.writers = std::make_unique<std::vector<StoreClientId>>();
  std::vector<StoreClientId>& writers = *value.writers;
  const auto place = std::lower_bound(writers.begin(), writers.end(), client);
  if (place == writers.end() || *place != client) writers.insert(place, client);
}

base::Status StoreData::CheckRoom(uint64_t before, uint64_t after) const {
  if (after <= before || bytes() - before + after <= max_bytes_) return {};
  return base::Fail(base::Code::kExhausted, "the store is full");
}

uint64_t StoreData::BytesOf(std::string_view key) const {
  const auto found = values_.find(key);
  return found == values_.end() ? 0 : key.size() + found->second.view().size();
}

base::Status StoreData::Store(StoreClientId client, std::string_view key, std::string&& value) {
  TRY(CheckRoom(BytesOf(key), key.size() + value.size()));
  Put(client, key, std::move(value));
  return {};
}

void StoreData::Put(StoreClientId client, std::string_view key, std::string&& value) {
  auto found = values_.find(key);
  const bool is_new = found == values_.end();
  bytes_ += key.size() + value.size() - BytesOf(key);
  std::string old;
  if (is_new) {
    found = values_.emplace(key, Value{}).first;
  } else if (!watching_.empty()) {
    old = found->second.view();
  }
  if (!watching_.empty()) NotifyWatchers(key, is_new ? kKeyCreated : kKeyUpdated, old, value);
  Value& entry = found->second;
  if (value.size() >= kSharedFrom) {
    entry.text = {};
    entry.shared = std::make_shared<const std::string>(std::move(value));
  } else {
    entry.shared.reset();
    entry.text = std::move(value);
  }
  Remember(entry, client);
}

void StoreData::Send(std::string_view key, OutputQueue& out) const {
  const auto found = values_.find(key);
  if (found == values_.end()) return AppendText(out, {});
  if (!found->second.shared) return AppendText(out, found->second.text);
  out.AppendNumber(static_cast<uint64_t>(found->second.shared->size()));
  out.AppendShared(found->second.shared);
}

base::Status StoreData::Set(StoreClientId client, std::string_view key, std::string_view value) {
  TRY(Store(client, key, std::string(value)));
  Wake(key);
  return {};
}

// All or nothing: there must be room for the final state.
base::Status StoreData::MultiSet(StoreClientId client, const StoreRequest& request) {
  std::unordered_map<std::string_view, uint64_t> last;
  for (size_t i = 0; i < request.keys.size(); ++i) {
    last[request.keys[i]] = request.keys[i].size() + request.values[i].size();
  }
  uint64_t before = 0;
  uint64_t after = 0;
  for (const auto& [key, bytes] : last) {
    before += BytesOf(key);
    after += bytes;
  }
  TRY(CheckRoom(before, after));
  for (size_t i = 0; i < request.keys.size(); ++i) {
    Put(client, request.keys[i], std::string(request.values[i]));
    Wake(request.keys[i]);
  }
  return {};
}

// A few bytes may request the same value a hundred thousand times: beyond kMaxCopied, answers share
// their values with the store.
void StoreData::SendAll(const std::vector<std::string_view>& keys, OutputQueue& out) {
  size_t copied = 0;
  for (const std::string_view key : keys) {
    const auto found = values_.find(key);
    if (found != values_.end() && !found->second.shared) {
      Value& value = found->second;
      copied += value.text.size();
      if (copied > kMaxCopied && !value.text.empty()) {
        value.shared = std::make_shared<const std::string>(std::move(value.text));
        value.text = {};
      }
    }
    Send(key, out);
  }
}

base::Status StoreData::SendKeys(OutputQueue& out) const {
  uint64_t key_bytes = 0;
  for (const auto& [key, value] : values_) key_bytes += key.size() + sizeof(uint64_t);
  if (key_bytes > kMaxKeyList) {
    return base::Fail(base::Code::kExhausted, "too many keys to list");
  }
  out.AppendNumber(static_cast<int64_t>(values_.size()));
  for (const auto& [key, value] : values_) AppendText(out, key);
  return {};
}

// A missing key is created only when the expected value is empty; otherwise the answer is the
// expected value, as in PyTorch's own store.
base::Status StoreData::CompareSet(StoreClientId client, const StoreRequest& request,
                                   OutputQueue& out) {
  const auto found = values_.find(request.key);
  const bool is_there = found != values_.end();
  if (is_there ? found->second.view() == request.expected : request.expected.empty()) {
    TRY(Store(client, request.key, std::string(request.value)));
    Wake(request.key);
  } else if (!is_there) {
    AppendText(out, request.expected);
    return {};
  }
  Send(request.key, out);
  return {};
}

base::Result<int64_t> StoreData::AddTo(StoreClientId client, std::string_view key, int64_t delta) {
  const auto found = values_.find(key);
  int64_t sum = delta;
  if (found != values_.end()) {
    const std::optional<int64_t> counter = ReadCounter(found->second.view());
    if (!counter)
      return base::Fail(base::Code::kInvalidArgument, "ADD to a value that is not a number");
    (void)__builtin_add_overflow(*counter, delta, &sum);  // wraps, as in PyTorch's server
  }
  std::array<char, 24> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), sum).ptr;
  // Adding 0 only reads, so it is not an arrival.
  const StoreClientId writer = delta == 0 && found != values_.end() ? 0 : client;
  TRY(Store(writer == 0 ? found->second.first_writer : writer, key,
            std::string(digits.data(), end)));
  return sum;
}

base::Status StoreData::Add(StoreClientId client, const StoreRequest& request, SteadyTime now,
                            OutputQueue& out) {
  TRY_ASSIGN(const int64_t sum, AddTo(client, request.key, request.number));
  if (request.number == 0) {
    Poll& poll = polls_[client];
    if (poll.key != request.key) {
      poll.key = request.key;
      poll.since = now;
    }
    poll.last = now;
  }
  out.AppendNumber(sum);
  Wake(request.key);
  return {};
}

base::Status StoreData::Append(StoreClientId client, std::string_view key, std::string_view value) {
  const auto found = values_.find(key);
  std::string whole(found == values_.end() ? std::string_view() : found->second.view());
  whole.append(value);
  TRY(Store(client, key, std::move(whole)));
  Wake(key);
  return {};
}

base::Status StoreData::Barrier(StoreClientId client, const StoreRequest& request, SteadyTime now,
                                OutputQueue& out) {
  TRY_ASSIGN(const int64_t count, AddTo(client, request.key, 1));
  CancelWait(client);
  if (count >= request.number) {
    Wake(request.key);
    out.AppendNumber(kStopWaiting);
    return {};
  }
  waiting_.try_emplace(std::string(request.key)).first->second.push_back(client);
  waits_[client] = {{std::string(request.key)}, 1, now, request.number};
  return {};
}

base::Status StoreData::Push(StoreClientId client, std::string_view key, std::string_view value) {
  (void)client;
  TRY(CheckRoom(0, value.size()));
  bytes_ += value.size();
  queues_.try_emplace(std::string(key)).first->second.emplace_back(value);
  Wake(key, true);
  return {};
}

void StoreData::Pop(std::string_view key, OutputQueue& out) {
  const auto found = queues_.find(key);
  out.AppendNumber(static_cast<int64_t>(found == queues_.end() ? 0 : found->second.size()));
  if (found == queues_.end()) return;
  const std::string value = std::move(found->second.front());
  found->second.pop_front();
  bytes_ -= value.size();
  if (found->second.empty()) queues_.erase(found);
  AppendText(out, value);
}

void StoreData::Delete(std::string_view key, OutputQueue& out) {
  const auto found = values_.find(key);
  out.AppendNumber(static_cast<int64_t>(found == values_.end() ? 0 : 1));
  if (found == values_.end()) return;
  if (!watching_.empty()) NotifyWatchers(key, kKeyDeleted, found->second.view(), {});
  bytes_ -= found->first.size() + found->second.view().size();
  values_.erase(found);
}

base::Status StoreData::WaitFor(StoreClientId client, const StoreRequest& request, SteadyTime now,
                                OutputQueue& out) {
  CancelWait(client);
  Wait wait;
  for (const std::string_view key : request.keys) {
    if (!IsThere(key)) wait.bytes += kWaitBytes + 2 * key.size();
  }
  TRY(CheckRoom(0, wait.bytes));
  for (const std::string_view key : request.keys) {
    if (IsThere(key)) continue;
    waiting_.try_emplace(std::string(key)).first->second.push_back(client);
    wait.keys.emplace_back(key);
  }
  if (wait.keys.empty()) {
    out.AppendNumber(kStopWaiting);
    return {};
  }
  waiting_bytes_ += wait.bytes;
  wait.missing = wait.keys.size();
  wait.since = now;
  waits_[client] = std::move(wait);
  return {};
}

void StoreData::CancelWait(StoreClientId client) {
  const auto wait = waits_.find(client);
  if (wait == waits_.end()) return;
  for (const std::string& key : wait->second.keys) {
    const auto list = waiting_.find(key);
    if (list == waiting_.end()) continue;
    std::erase(list->second, client);
    if (list->second.empty()) waiting_.erase(list);
  }
  waiting_bytes_ -= wait->second.bytes;
  waits_.erase(wait);
}

void StoreData::Wake(std::string_view key, bool only_one) {
  const auto list = waiting_.find(key);
  if (list == waiting_.end()) return;
  std::vector<StoreClientId>& clients = list->second;
  size_t done = 0;
  bool has_woken = false;
  while (done < clients.size() && !(only_one && has_woken)) {
    const StoreClientId client = clients[done++];
    const auto wait = waits_.find(client);
    if (wait == waits_.end() || --wait->second.missing != 0) continue;
    waiting_bytes_ -= wait->second.bytes;
    waits_.erase(wait);
    has_woken = true;
    if (OutputQueue* const out = clients_.OutputOf(client)) out->AppendNumber(kStopWaiting);
  }
  clients.erase(clients.begin(), clients.begin() + static_cast<std::ptrdiff_t>(done));
  if (clients.empty()) waiting_.erase(list);
}

// A client that watches a key twice is notified once, since it has one callback for a key.
base::Status StoreData::Watch(StoreClientId client, std::string_view key, OutputQueue& out) {
  const auto found = watching_.find(key);
  const bool is_known =
      found != watching_.end() &&
      std::find(found->second.begin(), found->second.end(), client) != found->second.end();
  if (!is_known) {
    TRY(CheckRoom(0, kWaitBytes + key.size()));
    waiting_bytes_ += kWaitBytes + key.size();
    watching_.try_emplace(std::string(key)).first->second.push_back(client);
  }
  out.AppendNumber(kCallbackRegistered);
  return {};
}

void StoreData::NotifyWatchers(std::string_view key, uint8_t event, std::string_view before,
                               std::string_view after) {
  const auto watchers = watching_.find(key);
  if (watchers == watching_.end()) return;
  for (const StoreClientId client : watchers->second) {
    OutputQueue* const out = clients_.OutputOf(client);
    if (out == nullptr) continue;
    out->AppendNumber(event);
    AppendText(*out, key);
    AppendText(*out, before);
    AppendText(*out, after);
  }
}

base::Status StoreData::Apply(StoreClientId client, StoreDialect dialect,
                              const StoreRequest& request, SteadyTime now, OutputQueue& out) {
  // Torch up to 2.0 cannot cancel a wait: a client that sends another request has given up waiting,
  // and would take the late answer for that of the new request.
  if (dialect != StoreDialect::kFrom22 && dialect != StoreDialect::k21 && !waits_.empty()) {
    CancelWait(client);
  }
  switch (request.op) {
    case StoreOp::kValidate:
      return {};
    case StoreOp::kSet:
      return Set(client, request.key, request.value);
    case StoreOp::kCompareSet:
      return CompareSet(client, request, out);
    case StoreOp::kGet:
      return Send(request.key, out), base::Status();
    case StoreOp::kAdd:
      return Add(client, request, now, out);
    case StoreOp::kCheck:
      out.AppendNumber(std::all_of(request.keys.begin(), request.keys.end(),
                                   [&](std::string_view key) { return IsThere(key); })
                           ? kReady
                           : kNotReady);
      return {};
    case StoreOp::kWait:
      return WaitFor(client, request, now, out);
    case StoreOp::kGetNumKeys:
      return out.AppendNumber(static_cast<int64_t>(values_.size())), base::Status();
    case StoreOp::kWatchKey:
      return Watch(client, request.key, out);
    case StoreOp::kDeleteKey:
      return Delete(request.key, out), base::Status();
    case StoreOp::kAppend:
      return Append(client, request.key, request.value);
    case StoreOp::kMultiGet:
      return SendAll(request.keys, out), base::Status();
    case StoreOp::kMultiSet:
      return MultiSet(client, request);
    case StoreOp::kCancelWait:
      CancelWait(client);
      return out.AppendNumber(kWaitCanceled), base::Status();
    case StoreOp::kPing:
      return out.AppendNumber(static_cast<uint32_t>(request.number)), base::Status();
    case StoreOp::kQueuePush:
      return Push(client, request.key, request.value);
    case StoreOp::kQueuePop:
      return Pop(request.key, out), base::Status();
    case StoreOp::kQueueLen: {
      const auto queue = queues_.find(request.key);
      out.AppendNumber(static_cast<int64_t>(queue == queues_.end() ? 0 : queue->second.size()));
      return {};
    }
    case StoreOp::kListKeys:
      return SendKeys(out);
    case StoreOp::kBarrier:
      return Barrier(client, request, now, out);
  }
  return base::Fail(base::Code::kInternal, "no such request");
}

void StoreData::Forget(StoreClientId client) {
  CancelWait(client);
  polls_.erase(client);
  for (auto list = watching_.begin(); list != watching_.end();) {
    waiting_bytes_ -= std::erase(list->second, client) * (kWaitBytes + list->first.size());
    list = list->second.empty() ? watching_.erase(list) : std::next(list);
  }
}

void StoreData::Clear() {
  values_.clear();
  queues_.clear();
  bytes_ = 0;
}

std::vector<StoreData::Key> StoreData::Keys() const {
  std::vector<Key> keys;
  keys.reserve(values_.size());
  for (const auto& [name, value] : values_) {
    const std::string_view view = value.view();
    Key key{name, std::string(view.substr(0, kShownBytes)), view.size(), {}};
    if (value.writers) key.writers = *value.writers;
    const auto place = std::lower_bound(key.writers.begin(), key.writers.end(), value.first_writer);
    key.writers.insert(place, value.first_writer);
    keys.push_back(std::move(key));
  }
  std::sort(keys.begin(), keys.end(), [](const Key& a, const Key& b) { return a.key < b.key; });
  return keys;
}

std::vector<StoreData::Waiter> StoreData::Waiters(SteadyTime polled_after) const {
  std::vector<Waiter> waiters;
  for (const auto& [client, wait] : waits_) {
    Waiter waiter{client, {}, wait.since, wait.barrier_size, false};
    for (const std::string& key : wait.keys) {
      if (wait.barrier_size != 0 || !IsThere(key)) waiter.keys.push_back(key);
    }
    waiters.push_back(std::move(waiter));
  }
  for (const auto& [client, poll] : polls_) {
    if (poll.last < polled_after || waits_.contains(client)) continue;
    waiters.push_back({client, {poll.key}, poll.since, 0, true});
  }
  std::sort(waiters.begin(), waiters.end(),
            [](const Waiter& a, const Waiter& b) { return a.client < b.client; });
  return waiters;
}

}  // namespace rendezvous
