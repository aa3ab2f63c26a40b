// What a stranger may send to the rendezvous endpoint, and /etc/hosts.
#include <cstdio>
#include <cstdlib>

#include "rendezvous/nodes/agent_message.h"
#include "rendezvous/sockets/resolve.h"
#include "rendezvous/store/keys.h"

namespace {

void Hold(std::string_view what, bool holds) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %.*s\n", static_cast<int>(what.size()), what.data());
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  (void)rendezvous::FindInHosts(input, "node");
  (void)rendezvous::ParseStoreKey(input);
  const auto message = rendezvous::DecodeMessage(input);
  if (!message) return 0;
  const std::string bytes = rendezvous::EncodeMessage(*message);
  const auto again = rendezvous::DecodeMessage(bytes);
  Hold("what is written can be read", again.has_value());
  Hold("it is the same", bytes == rendezvous::EncodeMessage(*again));
  return 0;
}
