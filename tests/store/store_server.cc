// Serves a store and prints its port. Then, for each line of standard input: `reset` empties it;
// `snapshot` prints what it knows, a line for each key and waiter and a last one `.`; `explain
// SECONDS PID...` says what the ranks with these pids have waited for so long, and then `.`. Ends
// with standard input.
//
//   store_server [PORT]
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <sstream>
#include <string>

#include "base/clock.h"
#include "rendezvous/sockets/port_owner.h"
#include "rendezvous/store/wait_explainer.h"
#include "rendezvous/testing/store_thread.h"

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

void PrintWaits(const rendezvous::StoreSnapshot& snapshot, std::istringstream words) {
  std::string verb;
  int seconds = 0;
  words >> verb >> seconds;
  std::vector<rendezvous::RankInfo> ranks;
  std::vector<pid_t> pids;
  for (pid_t pid = 0; words >> pid;) {
    ranks.push_back({static_cast<int>(ranks.size()), "", pid, true, {}});
    pids.push_back(pid);
  }
  std::vector<uint16_t> ports;
  for (const rendezvous::StoreClient& client : snapshot.clients) ports.push_back(client.peer.port);
  const auto clients =
      rendezvous::RanksOfClients(snapshot, ranks, rendezvous::FindPortOwners(ports, pids));
  for (const rendezvous::StuckWait& wait :
       rendezvous::ExplainWaits(snapshot, ranks, clients, std::chrono::seconds(seconds))) {
    fmt::print("{}\n", wait.text);
  }
  fmt::print(".\n");
}

}  // namespace

int main(int argc, char** argv) {
  rendezvous::StoreOptions options;
  if (argc > 1) options.port = static_cast<uint16_t>(std::atoi(argv[1]));
  auto store = rendezvous::testing::StoreThread::Start(base::SystemClock(), options);
  if (!store) {
    fmt::print(stderr, "store_server: {}\n", store.error().message);
    return 1;
  }
  fmt::print("{}\n", (*store)->port());
  std::fflush(stdout);
  for (std::string line; std::getline(std::cin, line);) {
    if (line == "reset") {
      (*store)->Reset();
      fmt::print(".\n");
    }
    if (line == "snapshot") PrintSnapshot((*store)->Snapshot());
    if (line.starts_with("explain ")) PrintWaits((*store)->Snapshot(), std::istringstream(line));
    std::fflush(stdout);
  }
  return 0;
}
