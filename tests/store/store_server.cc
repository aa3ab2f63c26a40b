// Serves a store and prints its port. Then, for each line of standard input: `reset` empties it,
// `snapshot` prints what it knows, a line for each key and waiter and a last one `.`. Ends with
// standard input.
//
//   store_server [PORT]
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>

#include "base/clock.h"
#include "rendezvous/store_thread.h"

namespace {

std::string Joined(const std::vector<rendezvous::StoreClientId>& ids) {
  std::string text;
  for (const rendezvous::StoreClientId id : ids) {
    text += (text.empty() ? "" : ",") + std::to_string(id);
  }
  return text;
}

void PrintSnapshot(const rendezvous::StoreSnapshot& snapshot) {
  for (const rendezvous::StoreClient& client : snapshot.clients) {
    fmt::print("client {} {} {}\n", client.id, client.peer.ToString(), client.nonce);
  }
  for (const auto& key : snapshot.keys) {
    fmt::print("key {} {} by {}\n", key.key, key.value_bytes, Joined(key.writers));
  }
  for (const auto& waiter : snapshot.waiters) {
    for (const std::string& key : waiter.keys) {
      fmt::print("{} {} {}\n", waiter.is_polling ? "polls" : "waits", waiter.client, key);
    }
  }
  fmt::print(".\n");
}

}  // namespace

int main(int argc, char** argv) {
  rendezvous::StoreOptions options;
  if (argc > 1) options.port = static_cast<uint16_t>(std::atoi(argv[1]));
  auto store = rendezvous::StoreThread::Start(base::SystemClock(), options);
  if (!store) {
    fmt::print(stderr, "store_server: {}\n", store.error().message);
    return 1;
  }
  fmt::print("{}\n", (*store)->port());
  std::fflush(stdout);
  for (std::string line; std::getline(std::cin, line);) {
    if (line == "reset") (*store)->Reset();
    if (line == "snapshot") PrintSnapshot((*store)->Snapshot());
    std::fflush(stdout);
  }
  return 0;
}
