// Connector: looks up a name and connects to it in a thread, so that the loop is not blocked.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/fd.h"
#include "base/result.h"
#include "process/event_loop.h"

namespace rendezvous {

struct Connected {
  base::Fd fd;
  // The address that was reached, if the first of the host's did not answer; otherwise "".
  std::string other_address;
};

// A TCP connection that does not block, with TCP_NODELAY, to the first of the numeric addresses
// that answers. Tries them in turn, each for its share of `timeout`. Blocks. kUnavailable: nobody
// listens, or there is no route; kTimeout.
base::Result<Connected> ConnectToAny(base::Clock& clock, const std::vector<std::string>& addresses,
                                     uint16_t port, base::Duration timeout);

// Used in the loop's thread, where `done` is called once, unless this is destroyed before.
class Connector {
 public:
  using Done = std::function<void(base::Result<Connected>)>;

  Connector(process::EventLoop& loop, base::Clock& clock, const std::string& host, uint16_t port,
            base::Duration timeout, Done done);
  // Does not wait for the thread.
  ~Connector();

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

}  // namespace rendezvous
