// TCP ports for the jobs' rank 0, one per job, and for Services of type NodePort: outside the range
// from which the kernel takes ports for outgoing connections, locked machine-wide because two users
// may run muster. "Job" below stands for the owner of a port: a job by its uid, a Service's port
// by its key (node_ports.h).
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "base/guarded.h"
#include "base/result.h"

namespace local::node {

// The kernel's range as /proc/sys/net/ipv4/ip_local_port_range writes it: "32768\t60999".
// kInvalidArgument when malformed.
base::Result<std::pair<int, int>> ParsePortRange(std::string_view text);

// Where to look, in order, as inclusive ranges: from 23456 (PyTorchJob's default) up to the
// kernel's range, then above it, then below 23456 from 10000.
std::vector<std::pair<int, int>> CandidatePorts(std::pair<int, int> kernel_range);

// Whether a server could listen on it now, on loopback and on all addresses, IPv4 and IPv6.
bool IsPortFree(int port);

// Locks of ports whose jobs have not started yet; each is a descriptor. For further jobs the port
// is locked when they start, and they wait if another user's muster came first.
inline constexpr size_t kMaxHeldLocks = 256;

// Thread safe.
class PortAllocator {
 public:
  // Reads the kernel's range; uses its default if /proc does not have it.
  static PortAllocator OfMachine();
  PortAllocator(std::vector<std::pair<int, int>> candidates, std::string lock_prefix);

  // The job's port: the one it has, or `existing` (its pods carry it since an earlier daemon), or
  // `wanted` (its author wrote it) if it is free, or a new one, locked and probed. If another job
  // has `existing` but has not started, that job gives it up: without pods it gets another port,
  // with pods the first of the two to start has it. kExhausted when every candidate is taken.
  base::Result<int> Assign(const std::string& job_uid, std::optional<int> existing,
                           std::optional<int> wanted = std::nullopt);
  // Gives the job's port back; a shim that holds the lock keeps it.
  void Release(const std::string& job_uid);
  // The job's port, when it has one of this allocator.
  std::optional<int> Find(const std::string& job_uid) const;

  // Before the pod of rank 0 starts: its port's lock, for its shim. kUnavailable when another
  // program listens on the port or holds the lock by now. kNotFound: the job has no port here.
  // A process of another pod of the job may listen: the launcher there has taken over the
  // rendezvous while rank 0's pod was away.
  base::Result<base::Fd> LockForStart(const std::string& job_uid, std::string_view pod_name);

 private:
  struct Assigned {
    int port = 0;
    base::Fd lock;  // none while only a shim holds it, or too many are held
    bool is_started = false;
    bool is_given_up = false;  // another job has taken it over
  };
  struct State {
    int Add(const std::string& job_uid, int port, base::Fd lock);
    void Remove(std::map<std::string, Assigned>::iterator job);
    // The lock of a port that no job and no other program has; none otherwise.
    base::Fd LockIfFree(const std::string& lock_name, int port) const;
    // Takes the port from a job that has not started with it; returns its lock, if the job has
    // that.
    base::Fd TakeOver(int port);

    std::map<std::string, Assigned> by_job;
    std::multiset<int> ports;  // theirs
    size_t held = 0;           // how many have their lock
    size_t next = 0;           // so that a port is not used again at once
  };
  std::string LockName(int port) const;

  const std::vector<std::pair<int, int>> candidates_;
  const std::string lock_prefix_;
  mutable base::Guarded<State> state_;
};

}  // namespace local::node
