#include "rendezvous/store/protocol.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace rendezvous {
namespace {

static_assert(std::endian::native == std::endian::little, "the protocol is in host byte order");

constexpr uint32_t kValidationMagic = 0x3C85F7CE;

// Opcode tables by torch version; the index is the byte on the wire.
constexpr std::array kOpsUpTo20 = {StoreOp::kSet,        StoreOp::kCompareSet, StoreOp::kGet,
                                   StoreOp::kAdd,        StoreOp::kCheck,      StoreOp::kWait,
                                   StoreOp::kGetNumKeys, StoreOp::kWatchKey,   StoreOp::kDeleteKey};
constexpr std::array kOps21 = {StoreOp::kSet,        StoreOp::kCompareSet, StoreOp::kGet,
                               StoreOp::kAdd,        StoreOp::kCheck,      StoreOp::kWait,
                               StoreOp::kGetNumKeys, StoreOp::kDeleteKey,  StoreOp::kAppend,
                               StoreOp::kMultiGet,   StoreOp::kMultiSet,   StoreOp::kCancelWait};
constexpr std::array kOpsFrom22 = {
    StoreOp::kValidate,   StoreOp::kSet,      StoreOp::kCompareSet, StoreOp::kGet,
    StoreOp::kAdd,        StoreOp::kCheck,    StoreOp::kWait,       StoreOp::kGetNumKeys,
    StoreOp::kDeleteKey,  StoreOp::kAppend,   StoreOp::kMultiGet,   StoreOp::kMultiSet,
    StoreOp::kCancelWait, StoreOp::kPing,     StoreOp::kQueuePush,  StoreOp::kQueuePop,
    StoreOp::kQueueLen,   StoreOp::kListKeys, StoreOp::kBarrier};

// The two bytes whose meaning differs between versions up to 2.0 and 2.1.
constexpr uint8_t kSevenOld = 7;
constexpr uint8_t kEightOld = 8;

template <typename T>
T Load(std::string_view input, size_t at) {
  T value;
  std::memcpy(&value, input.data() + at, sizeof value);
  return value;
}

}  // namespace

enum class StoreParser::Shape : uint8_t {
  kNothing,
  kKey,
  kKeyValue,
  kKeyTwoValues,
  kKeyNumber,
  kShortNumber,
  kKeys,
  kPairs,
};

std::string_view StoreOpName(StoreOp op) {
  constexpr std::array<std::string_view, 20> kNames = {
      "VALIDATE",   "SET",       "COMPARE_SET", "GET",         "ADD",
      "CHECK",      "WAIT",      "GETNUMKEYS",  "WATCH_KEY",   "DELETE_KEY",
      "APPEND",     "MULTI_GET", "MULTI_SET",   "CANCEL_WAIT", "PING",
      "QUEUE_PUSH", "QUEUE_POP", "QUEUE_LEN",   "LIST_KEYS",   "BARRIER"};
  return kNames[static_cast<size_t>(op)];
}

StoreParser::Shape StoreParser::ShapeOf(StoreOp op) {
  switch (op) {
    case StoreOp::kValidate:
    case StoreOp::kPing:
      return Shape::kShortNumber;
    case StoreOp::kSet:
    case StoreOp::kAppend:
    case StoreOp::kQueuePush:
      return Shape::kKeyValue;
    case StoreOp::kCompareSet:
      return Shape::kKeyTwoValues;
    case StoreOp::kGet:
    case StoreOp::kWatchKey:
    case StoreOp::kDeleteKey:
    case StoreOp::kQueuePop:
    case StoreOp::kQueueLen:
      return Shape::kKey;
    case StoreOp::kAdd:
    case StoreOp::kBarrier:
      return Shape::kKeyNumber;
    case StoreOp::kCheck:
    case StoreOp::kWait:
    case StoreOp::kMultiGet:
      return Shape::kKeys;
    case StoreOp::kMultiSet:
      return Shape::kPairs;
    case StoreOp::kGetNumKeys:
    case StoreOp::kCancelWait:
    case StoreOp::kListKeys:
      return Shape::kNothing;
  }
  return Shape::kNothing;
}

bool StoreParser::Decode(uint8_t byte, StoreOp& op) {
  const auto pick = [&](const auto& table) {
    if (byte >= table.size()) return false;
    op = table[byte];
    return true;
  };
  switch (dialect_) {
    case StoreDialect::kFrom22:
      return pick(kOpsFrom22);
    case StoreDialect::kUpTo20:
      return pick(kOpsUpTo20);
    default:
      return pick(kOps21);  // kOld: 7 and 8 are decided later
  }
}

// A client from 2.2 on begins with VALIDATE and the magic number; older ones with any request. Read
// as the beginning of an older SET, the same bytes would announce a key of more than a gigabyte.
StoreParser::Outcome StoreParser::Begin(std::string_view input, StoreOp& op) {
  if (dialect_ == StoreDialect::kUnknown) {
    if (static_cast<uint8_t>(input[0]) == 0) {
      if (input.size() < 5) return NeedMore(5);
      dialect_ =
          Load<uint32_t>(input, 1) == kValidationMagic ? StoreDialect::kFrom22 : StoreDialect::kOld;
    } else {
      dialect_ = StoreDialect::kOld;
    }
  }
  if (!Decode(static_cast<uint8_t>(input[0]), op)) return Garbage("unknown opcode");
  if (dialect_ == StoreDialect::kFrom22 && (op == StoreOp::kValidate) == has_parsed_) {
    return Garbage("VALIDATE twice");
  }
  if (dialect_ == StoreDialect::kOld && static_cast<uint8_t>(input[0]) >= kSevenOld) {
    return SettleOldDialect(input, op);
  }
  return Outcome::kRequest;
}

// Bytes 7 and 8 are WATCH_KEY and DELETE_KEY up to 2.0, DELETE_KEY and APPEND in 2.1; 9 and above
// exist only in 2.1. WATCH_KEY uses a connection of its own, which carries nothing else; APPEND has
// a value after its key.
StoreParser::Outcome StoreParser::SettleOldDialect(std::string_view input, StoreOp& op) {
  const auto byte = static_cast<uint8_t>(input[0]);
  if (byte == kSevenOld) {
    dialect_ = has_parsed_ ? StoreDialect::k21 : StoreDialect::kUpTo20;
  } else if (byte == kEightOld) {
    size_t at = 1;
    const Outcome key = Skip(input, at, limits_->max_key_bytes, "key too long");
    if (key != Outcome::kRequest) return key;
    dialect_ = at < input.size() ? StoreDialect::k21 : StoreDialect::kUpTo20;
  } else {
    dialect_ = StoreDialect::k21;
  }
  Decode(byte, op);
  return Outcome::kRequest;
}

StoreParser::Outcome StoreParser::Next(std::string_view input, StoreRequest& request) {
  is_whole_ = false;
  if (input.empty()) return NeedMore(1);
  Outcome outcome = Begin(input, request.op);
  if (outcome != Outcome::kRequest) return outcome;
  const Shape shape = ShapeOf(request.op);
  outcome = shape == Shape::kKeys || shape == Shape::kPairs
                ? ParseCounted(input, shape == Shape::kPairs, request)
                : ParseFields(input, shape, request);
  if (outcome != Outcome::kRequest) return outcome;
  if (request.op == StoreOp::kValidate && static_cast<uint32_t>(request.number) != kValidationMagic)
    return Garbage("wrong magic number");
  has_parsed_ = true;
  is_whole_ = true;
  needed_ = 1;
  return Outcome::kRequest;
}

StoreParser::Outcome StoreParser::ReadNumber(std::string_view input, size_t& at, size_t bytes,
                                             int64_t& number) {
  if (input.size() - at < bytes) return NeedMore(at + bytes);
  number = bytes == sizeof(uint32_t) ? static_cast<int64_t>(Load<uint32_t>(input, at))
                                     : Load<int64_t>(input, at);
  at += bytes;
  return Outcome::kRequest;
}

StoreParser::Outcome StoreParser::ReadText(std::string_view input, size_t& at, uint64_t limit,
                                           std::string_view what, std::string_view& text) {
  const size_t begin = at;
  const Outcome outcome = Skip(input, at, limit, what);
  if (outcome == Outcome::kRequest) {
    text = input.substr(begin + sizeof(uint64_t), at - begin - sizeof(uint64_t));
  }
  return outcome;
}

StoreParser::Outcome StoreParser::Skip(std::string_view input, size_t& at, uint64_t limit,
                                       std::string_view what) {
  if (input.size() - at < sizeof(uint64_t)) return NeedMore(at + sizeof(uint64_t));
  const auto size = Load<uint64_t>(input, at);
  if (size > limit) return Garbage(what);
  const size_t end = at + sizeof(uint64_t) + static_cast<size_t>(size);
  if (end > limits_->max_message_bytes) return Garbage("message too long");
  if (input.size() < end) return NeedMore(end);
  at = end;
  return Outcome::kRequest;
}

StoreParser::Outcome StoreParser::ParseFields(std::string_view input, Shape shape,
                                              StoreRequest& request) {
  size_t at = 1;
  const auto key = [&] {
    return ReadText(input, at, limits_->max_key_bytes, "key too long", request.key);
  };
  const auto value = [&](std::string_view& into) {
    return ReadText(input, at, limits_->max_value_bytes, "value too long", into);
  };
  Outcome outcome = Outcome::kRequest;
  if (shape == Shape::kShortNumber) {
    outcome = ReadNumber(input, at, sizeof(uint32_t), request.number);
  } else if (shape != Shape::kNothing) {
    outcome = key();
  }
  if (outcome == Outcome::kRequest && shape == Shape::kKeyTwoValues) {
    outcome = value(request.expected);
  }
  if (outcome == Outcome::kRequest &&
      (shape == Shape::kKeyValue || shape == Shape::kKeyTwoValues)) {
    outcome = value(request.value);
  }
  if (outcome == Outcome::kRequest && shape == Shape::kKeyNumber) {
    outcome = ReadNumber(input, at, sizeof(int64_t), request.number);
  }
  consumed_ = at;
  return outcome;
}

StoreParser::Outcome StoreParser::ParseCounted(std::string_view input, bool has_values,
                                               StoreRequest& request) {
  constexpr size_t kFirst = 1 + sizeof(uint64_t);
  if (input.size() < kFirst) return NeedMore(kFirst);
  const auto count = Load<uint64_t>(input, 1);
  if (count > limits_->max_keys) return Garbage("too many keys");
  const uint64_t texts = has_values ? count * 2 : count;
  const auto limit_of = [&](uint64_t index) {
    return has_values && index % 2 == 1 ? limits_->max_value_bytes : limits_->max_key_bytes;
  };
  size_t at = std::max(counted_at_, kFirst);
  while (counted_done_ < texts) {
    const Outcome outcome = Skip(input, at, limit_of(counted_done_), "key or value too long");
    if (outcome != Outcome::kRequest) return outcome;
    ++counted_done_;
    counted_at_ = at;
  }
  request.keys.clear();
  request.values.clear();
  at = kFirst;
  for (uint64_t i = 0; i < texts; ++i) {
    std::string_view text;
    ReadText(input, at, limit_of(i), {}, text);
    (has_values && i % 2 == 1 ? request.values : request.keys).push_back(text);
  }
  counted_at_ = 0;
  counted_done_ = 0;
  consumed_ = at;
  return Outcome::kRequest;
}

}  // namespace rendezvous
