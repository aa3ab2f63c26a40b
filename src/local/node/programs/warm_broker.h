// The broker of warm starts: a muster-launch process that starts interpreters outside of pods for
// programs in pods. It is the daemon's child and ends with it.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>

#include "base/result.h"

namespace local::node {

class WarmBroker {
 public:
  // Executes `launcher`, which answers on a new Unix socket at `socket`: connections succeed once
  // this returns. Its interpreters have their own sockets below `runtime`. Only this user can
  // access both folders.
  static base::Result<std::unique_ptr<WarmBroker>> Start(const std::string& launcher,
                                                         const std::string& socket,
                                                         const std::string& runtime);
  // The socket has been deleted: starts another process in place of this one, as Start does.
  base::Status ListenAgain();
  // Ends the process. Its interpreters end with their last program.
  ~WarmBroker();
  WarmBroker(const WarmBroker&) = delete;
  WarmBroker& operator=(const WarmBroker&) = delete;

 private:
  WarmBroker(std::string launcher, std::string socket, std::string runtime)
      : launcher_(std::move(launcher)), socket_(std::move(socket)), runtime_(std::move(runtime)) {}
  base::Status Execute();
  void End();

  const std::string launcher_;
  const std::string socket_;
  const std::string runtime_;
  pid_t pid_ = 0;
};

}  // namespace local::node
