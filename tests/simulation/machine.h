// A simulated machine: its disk, its daemon (whichever lives), its shims, and what a restart or
// another login changes of it.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "cluster/transport.h"
#include "disk.h"
#include "local/node/devices/ports.h"
#include "net/http/response_stream.h"
#include "shims.h"
#include "threads.h"

namespace simulation {

// One request to the daemon and its answer, as a connection of its own.
struct Connection {
  net::HttpRequest request;
  std::shared_ptr<net::ResponseStream> exchange;
  bool is_rung = false;      // the exchange has something new
  bool is_broken = false;    // the daemon is gone, or the network's dice were so
  Nanos breaks_at = kNever;  // its daemon was killed, and says nothing more
  void Ring();
  // Until one of both is so. False at the deadline.
  bool Await(Nanos deadline);
};

struct Daemon {
  Process process;
  enum class State { kStarting, kReady, kStopping, kEnded } state = State::kStarting;
  std::string why_ended;
  bool is_asked_to_stop = false;
  bool has_lost_power = false;
  std::deque<std::shared_ptr<Connection>> accepted;
  std::vector<std::weak_ptr<Connection>> open;
  const local::node::PortAllocator* ports = nullptr;  // while it serves
};

struct Faults {
  unsigned lost_answers = 0;       // of a thousand
  unsigned cut_watches = 0;        // of a thousand reads
  unsigned late_watches = 0;       // within the daemon, of a thousand reads (inner_watches.cc)
  unsigned failed_spawns = 0;      // of a thousand
  unsigned killed_shims = 0;       // of a thousand steps ...
  int64_t kill_daemon_after = -1;  // of its next steps
};

class Machine {
 public:
  // `store`: the file that another daemon has left; "" where none ever ran.
  Machine(bool may_lose_power, const std::string& store);
  ~Machine();

  Disk& disk() { return disk_; }
  Shims& shims() { return shims_; }
  Faults& faults() { return faults_; }
  const Faults& faults() const { return faults_; }
  std::string state() const { return disk_.root() + "/state"; }
  std::string runtime() const { return disk_.root() + "/run-" + std::to_string(login_); }

  std::string host_name = "host0";
  std::string boot_id() const { return "boot-" + std::to_string(boot_); }
  void LogInAgain() { ++login_; }

  // A request's way to the daemon, which is started where none lives, as a command does.
  base::Result<std::shared_ptr<Connection>> Send(net::HttpRequest request);
  // The daemon that lives; nullptr when none does.
  Daemon* daemon() { return daemon_.get(); }
  void StopDaemon();  // SIGTERM, and waits
  void KillDaemon();
  void PowerCut();
  bool HasLostPower() const { return boot_ > 1; }
  // How often something came that a command may fail of: a network or a disk that does.
  int troubles() const { return troubles_; }
  bool IsInTrouble() const { return faults_.lost_answers > 0 || disk_.IsInTrouble(); }
  void GetIntoTrouble() { ++troubles_; }
  // What killed daemons had open, and the kernel closes until then.
  void CloseLeft(Nanos due);

 private:
  base::Status EnsureDaemon();
  void Bury();  // what is left of a daemon that ends
  Disk disk_;
  Faults faults_;
  Shims shims_;
  int login_ = 0;
  int boot_ = 1;
  int last_pid_ = 100;
  int troubles_ = 0;
  std::unique_ptr<Daemon> daemon_;

  // Of daemons that were killed the kernel closes one lock or socket after the other, in any order.
  struct Left {
    std::shared_ptr<Description> description;
    Nanos due;
  };
  std::vector<std::shared_ptr<Description>> left_open_;  // of the one that has not been buried
  std::vector<Left> left_;
  Nanos lock_due_ = 0;  // of daemon.lock
};

// Of the life that is under way; nullptr before there is one.
Machine* TheMachine();

// Of killed daemons: to be asked before something is found taken.
void CloseWhatIsDue();

// The whole life of a daemon's process: the product's EmbeddedCluster, without sockets.
void RunDaemon(Machine& machine, Daemon& daemon);

// A command's way to the machine's daemon: a daemon that ends under a request is waited for, and
// the request sent once more, writes under one id (local/client/daemon_transport.cc).
std::unique_ptr<cluster::Transport> CommandTransport(Machine& machine);

}  // namespace simulation
