#include "rendezvous/nodes/agent_message.h"

#include <cstring>
#include <limits>
#include <type_traits>

namespace rendezvous {
namespace {

constexpr uint32_t kMaxText = 4 << 20;  // Rendezvous::kLongestTold
constexpr uint32_t kMaxNodes = 1 << 16;

// One description of each structure serves both directions: `Fields(io, x)` names its members in
// the order of transmission.
class MessageWriter {
 public:
  template <typename T>
  void Number(const T& value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void Text(const std::string& text) {
    Number(static_cast<uint32_t>(text.size()));
    bytes_ += text;
  }
  template <typename T, typename F>
  void Optional(const std::optional<T>& value, F each) {
    Number(static_cast<uint8_t>(value ? 1 : 0));
    if (value) each(*value);
  }
  template <typename T, typename F>
  void List(const std::vector<T>& values, F each) {
    Number(static_cast<uint32_t>(values.size()));
    for (const T& value : values) each(value);
  }
  std::string Take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

class MessageReader {
 public:
  explicit MessageReader(std::string_view bytes) : bytes_(bytes) {}
  template <typename T>
  void Number(T& value) {
    if (bytes_.size() < sizeof value) return Fail();
    std::memcpy(&value, bytes_.data(), sizeof value);
    bytes_.remove_prefix(sizeof value);
  }
  void Text(std::string& text) {
    uint32_t size = 0;
    Number(size);
    if (size > kMaxText || size > bytes_.size()) return Fail();
    text = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
  }
  template <typename T, typename F>
  void Optional(std::optional<T>& value, F each) {
    uint8_t is_there = 0;
    Number(is_there);
    if (is_there > 1) return Fail();
    if (is_there == 1) each(value.emplace());
  }
  template <typename T, typename F>
  void List(std::vector<T>& values, F each) {
    uint32_t size = 0;
    Number(size);
    if (size > kMaxNodes) return Fail();
    for (uint32_t i = 0; i < size && is_good_; ++i) each(values.emplace_back());
  }
  bool is_whole() const { return is_good_ && bytes_.empty(); }

 private:
  void Fail() {
    is_good_ = false;
    bytes_ = {};
  }
  std::string_view bytes_;
  bool is_good_ = true;
};

// An enumeration is sent as a byte; a value out of range makes the message unreadable later on.
template <typename Io, typename E>
void EnumField(Io& io, E& value) {
  uint8_t number = static_cast<uint8_t>(value);
  io.Number(number);
  if constexpr (!std::is_const_v<E>) value = static_cast<E>(number);
}

template <typename Io, typename T>
void FlagField(Io& io, T& value) {
  uint8_t number = value ? 1 : 0;
  io.Number(number);
  if constexpr (!std::is_const_v<T>) value = number != 0;
}

template <typename Io, typename T>
void FieldsOfRequest(Io& io, T& request) {
  io.Text(request.run_id);
  io.Number(request.min_nodes);
  io.Number(request.max_nodes);
  io.Number(request.nproc);
  io.Text(request.role);
  io.Number(request.max_restarts);
  io.Text(request.host);
  io.Optional(request.node_rank, [&](auto& rank) { io.Number(rank); });
  FlagField(io, request.is_static);
  FlagField(io, request.can_host);
  io.Optional(request.former, [&](auto& former) {
    io.Number(former.generation);
    io.Number(former.authority);
    io.Number(former.restart_count);
    io.Number(former.guests);
    io.Number(former.node_rank);
    FlagField(io, former.is_last);
  });
}

template <typename Io, typename T>
void FieldsOfFailure(Io& io, T& failure) {
  io.Text(failure.host);
  io.Number(failure.rank);
  io.Number(failure.local_rank);
  io.Number(failure.exit_code);
  io.Text(failure.text);
  io.Number(failure.pid);
  io.Text(failure.last_lines);
  FlagField(io, failure.is_final);
  FlagField(io, failure.has_stalled);
  FlagField(io, failure.has_lost_loss);
  FlagField(io, failure.was_out_of_memory);
}

template <typename Io, typename T>
void FieldsOfAssignment(Io& io, T& assignment) {
  io.Number(assignment.generation);
  io.Number(assignment.authority);
  io.Number(assignment.restart_count);
  io.List(assignment.nodes, [&](auto& node) {
    io.Text(node.host);
    io.Number(node.node_rank);
    io.Number(node.nproc);
    io.Number(node.first_rank);
    io.Text(node.role);
    io.Number(node.first_role_rank);
    io.Number(node.role_world_size);
  });
  io.Number(assignment.self);
  io.Number(assignment.guests);
  io.Number(assignment.world_size);
  io.Text(assignment.master_addr);
  io.Number(assignment.master_port);
}

template <typename Io, typename T>
void FieldsOfEnd(Io& io, T& end) {
  EnumField(io, end.kind);
  io.Optional(end.failure, [&](auto& failure) { FieldsOfFailure(io, failure); });
  EnumField(io, end.error.code);
  io.Text(end.error.message);
}

template <typename Io, typename M>
void FieldsOfMessage(Io& io, M& message) {
  using Type = AgentMessage::Type;
  const auto failure = [&](auto& value) { FieldsOfFailure(io, value); };
  switch (message.type) {
    case Type::kHello:
      FlagField(io, message.flag);
      return io.Text(message.text);
    case Type::kProof:
    case Type::kRefused:
    case Type::kLeave:
    case Type::kProgress:
      return io.Text(message.text);
    case Type::kHeartbeat:
      return;
    case Type::kJoin:
      io.Number(message.node);
      return FieldsOfRequest(io, message.request);
    case Type::kSucceeded:
    case Type::kStopped:
      return io.Number(message.generation);
    case Type::kFailed:
      io.Number(message.generation);
      return io.Optional(message.failure, failure);
    case Type::kStart:
      return FieldsOfAssignment(io, message.assignment);
    case Type::kStop:
      io.Number(message.generation);
      EnumField(io, message.reason);
      return io.Optional(message.failure, failure);
    case Type::kEnd:
      return FieldsOfEnd(io, message.end);
    case Type::kTell:
      io.Number(message.generation);
      io.Number(message.node_rank);
      return io.Text(message.text);
  }
}

bool HasMeaning(const Former& former) {
  constexpr int kMaxRestarts = 1 << 30;  // one more is still a number
  constexpr auto kNodes = static_cast<int>(kMaxNodes);
  return former.generation < std::numeric_limits<uint64_t>::max() && former.restart_count >= 0 &&
         former.restart_count <= kMaxRestarts && former.node_rank >= 0 &&
         former.node_rank < kNodes && former.guests >= 0 && former.guests <= kNodes;
}

bool HasMeaning(const AgentMessage& message) {
  using Type = AgentMessage::Type;
  switch (message.type) {
    case Type::kStop:
      return message.reason <= StopReason::kNodeLeft;
    case Type::kFailed:
      return message.failure.has_value();
    case Type::kEnd:
      return message.end.kind <= EndKind::kError &&
             message.end.error.code <= base::Code::kInternal &&
             (message.end.kind != EndKind::kFailed || message.end.failure);
    case Type::kStart:
      return message.assignment.self >= 0 &&
             static_cast<size_t>(message.assignment.self) < message.assignment.nodes.size();
    case Type::kJoin:
      return message.request.min_nodes > 0 && message.request.nproc > 0 &&
             message.request.min_nodes <= message.request.max_nodes &&
             (!message.request.former || HasMeaning(*message.request.former));
    case Type::kTell:
      return message.node_rank >= 0;
    default:
      return true;
  }
}

}  // namespace

std::string EncodeMessage(const AgentMessage& message) {
  MessageWriter writer;
  writer.Number(static_cast<uint8_t>(message.type));
  FieldsOfMessage(writer, message);
  return writer.Take();
}

base::Result<AgentMessage> DecodeMessage(std::string_view bytes) {
  MessageReader reader(bytes);
  uint8_t type = 0;
  reader.Number(type);
  if (type < static_cast<uint8_t>(AgentMessage::Type::kHello) ||
      type > static_cast<uint8_t>(AgentMessage::Type::kTell)) {
    return base::Fail(base::Code::kInvalidArgument, "not a message of an agent");
  }
  AgentMessage message;
  message.type = static_cast<AgentMessage::Type>(type);
  FieldsOfMessage(reader, message);
  if (!reader.is_whole() || !HasMeaning(message)) {
    return base::Fail(base::Code::kInvalidArgument, "an agent's message cannot be read");
  }
  return message;
}

}  // namespace rendezvous
