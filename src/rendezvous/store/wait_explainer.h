// Explains waits in the store that do not end: which barrier it is, who has arrived and who is
// missing. Pure: keys, waiters and ranks in, text out. Knows torch's names of keys
// (docs/formats/tcpstore.md, "Key names").
#pragma once

#include <sys/types.h>

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "base/clock.h"
#include "rendezvous/store/server.h"

namespace rendezvous {

// What the launcher knows of a worker.
struct RankInfo {
  int rank = 0;
  std::string host;
  pid_t pid = 0;
  bool is_alive = true;
  std::string doing;  // "waiting in train.py:30 (load)", "in do_wait"; empty: unknown
};

// The ranks of connections: by the process at the other end (`pid_of_port` maps the clients' own
// ports, see port_owner.h; otherwise the pid of the PING), or by the keys that only that rank
// writes. Connections of unknown rank are left out.
std::map<StoreClientId, int> RanksOfClients(const StoreSnapshot& snapshot,
                                            const std::vector<RankInfo>& ranks,
                                            const std::map<uint16_t, pid_t>& pid_of_port);

struct StuckWait {
  std::string name;          // "default_pg init", "process group 1", "key user/flag"
  std::vector<int> waiting;  // ranks, ascending
  std::vector<int> missing;  // ranks, as far as they are known
  size_t joined = 0;
  size_t expected = 0;  // 0: unknown
  std::chrono::seconds waited{};
  // `barrier "default_pg init": 3/4 joined after 10 s; missing: rank 2 (host b, pid 4711, alive,
  // waiting in ...)`
  std::string text;
};

// One for each barrier or key for which a client has waited at least `at_least`; the longest wait
// first.
std::vector<StuckWait> ExplainWaits(const StoreSnapshot& snapshot,
                                    const std::vector<RankInfo>& ranks,
                                    const std::map<StoreClientId, int>& rank_of_client,
                                    base::Duration at_least);

}  // namespace rendezvous
