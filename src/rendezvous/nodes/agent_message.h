// Encodes and decodes the messages between agents and the authority. No I/O.
// docs/formats/rendezvous.md has the layout.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "rendezvous/nodes/membership.h"

namespace rendezvous {

// The first bytes of a connection, from either side. No TCPStore client begins with them.
inline constexpr std::string_view kAgentMagic = "muster-rdzv 7\n";
inline constexpr size_t kNonceBytes = 32;

struct AgentMessage {
  enum class Type : uint8_t {
    kHello = 1,  // both: text = nonce; flag: the sender has a token
    kProof,      // both: text = HMAC, or empty without a token
    kRefused,    // authority: text says why; the connection ends
    kHeartbeat,  // both
    kJoin,       // agent: node, request
    kSucceeded,  // agent: generation
    kFailed,     // agent: generation, failure
    kStopped,    // agent: generation
    kLeave,      // agent: text
    kStart,      // authority: assignment
    kStop,       // authority: generation, reason, failure
    kEnd,        // authority: end
    kProgress,   // authority: text
    kTell,       // both: generation, text; from the host's agent to all others, or from one to it;
                 // node_rank of the sender, which the authority sets
  };
  Type type = Type::kHeartbeat;
  bool flag = false;
  NodeId node = 0;
  NodeRequest request;
  uint64_t generation = 0;
  int node_rank = 0;
  StopReason reason = StopReason::kWorkerFailed;
  std::optional<Failure> failure;
  Assignment assignment;
  End end;
  std::string text;
};

// Without the frame around it.
std::string EncodeMessage(const AgentMessage& message);
// kInvalidArgument unless it is exactly one message of this version.
base::Result<AgentMessage> DecodeMessage(std::string_view bytes);

}  // namespace rendezvous
