// The wire protocol of PyTorch's TCPStore, requests only: bytes in, requests out. No I/O, and no
// state except the connection's dialect. Byte layout and versions: docs/formats/tcpstore.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace rendezvous {

enum class StoreOp : uint8_t {
  kValidate,
  kSet,
  kCompareSet,
  kGet,
  kAdd,
  kCheck,
  kWait,
  kGetNumKeys,
  kWatchKey,
  kDeleteKey,
  kAppend,
  kMultiGet,
  kMultiSet,
  kCancelWait,
  kPing,
  kQueuePush,
  kQueuePop,
  kQueueLen,
  kListKeys,
  kBarrier,
};

// "SET", "COMPARE_SET", ...
std::string_view StoreOpName(StoreOp op);

// The opcodes that a connection uses. kOld: torch up to 2.1, with either of two tables, not known
// yet.
enum class StoreDialect : uint8_t { kUnknown, kOld, kUpTo20, k21, kFrom22 };

// A message that exceeds one of these is garbage: its connection is closed.
struct StoreLimits {
  uint64_t max_key_bytes = 64 << 10;
  uint64_t max_value_bytes = 1 << 30;
  uint64_t max_keys = 128 << 10;  // in one message
  uint64_t max_message_bytes = (1 << 30) + (1 << 20);
};

// Views into the parsed bytes.
struct StoreRequest {
  StoreOp op = StoreOp::kPing;
  std::string_view key;
  std::string_view value;                // SET, APPEND, QUEUE_PUSH; COMPARE_SET: the new value
  std::string_view expected;             // COMPARE_SET
  int64_t number = 0;                    // ADD: delta; BARRIER: world size; PING: nonce
  std::vector<std::string_view> keys;    // CHECK, WAIT, MULTI_GET, MULTI_SET
  std::vector<std::string_view> values;  // MULTI_SET
};

// One parser for each connection. Returns whole requests only.
class StoreParser {
 public:
  enum class Outcome { kRequest, kNeedMore, kGarbage };

  explicit StoreParser(const StoreLimits& limits) : limits_(&limits) {}

  // Parses the first request of `input`, which begins at a request's first byte. kRequest: it had
  // `consumed()` bytes. kNeedMore: call again with the same bytes followed by more, once there are
  // `needed()` of them. kGarbage: not a TCPStore client; `why()` says why.
  Outcome Next(std::string_view input, StoreRequest& request);

  size_t consumed() const { return consumed_; }
  size_t needed() const { return needed_; }
  // The last call found a request, so another may follow.
  bool is_whole() const { return is_whole_; }
  std::string_view why() const { return why_; }
  StoreDialect dialect() const { return dialect_; }

 private:
  enum class Shape : uint8_t;
  static Shape ShapeOf(StoreOp op);
  Outcome Begin(std::string_view input, StoreOp& op);
  bool Decode(uint8_t byte, StoreOp& op);
  Outcome ParseFields(std::string_view input, Shape shape, StoreRequest& request);
  Outcome ParseCounted(std::string_view input, bool has_values, StoreRequest& request);
  Outcome Skip(std::string_view input, size_t& at, uint64_t limit, std::string_view what);
  Outcome ReadNumber(std::string_view input, size_t& at, size_t bytes, int64_t& number);
  Outcome ReadText(std::string_view input, size_t& at, uint64_t limit, std::string_view what,
                   std::string_view& text);
  Outcome SettleOldDialect(std::string_view input, StoreOp& op);
  Outcome NeedMore(size_t total) {
    needed_ = total;
    return Outcome::kNeedMore;
  }
  Outcome Garbage(std::string_view why) {
    why_ = why;
    return Outcome::kGarbage;
  }

  const StoreLimits* limits_;
  StoreDialect dialect_ = StoreDialect::kUnknown;
  bool has_parsed_ = false;  // it has parsed a request on this connection
  size_t consumed_ = 0;
  size_t needed_ = 1;
  bool is_whole_ = false;
  std::string_view why_;
  // For a partly received message with a count: how many bytes are known to be complete, so that
  // bytes that trickle in are examined once.
  size_t counted_at_ = 0;
  uint64_t counted_done_ = 0;
};

}  // namespace rendezvous
