// Sees when a job that has a --notify starts, hangs or ends, and has the program tell.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>

#include "cluster/client.h"
#include "cluster/reflector.h"
#include "text/json.h"

namespace local::daemon {

// Which notice of the job is due, "start", "hang" or "end", and has not been given, however its
// object is being or was deleted; nullopt when none is. Pure.
std::optional<std::string> DueNotice(const text::Json& job);

class Notifier {
 public:
  // Called on a thread of its own, once for each notice in this object's life. What was not noted
  // on the job as given is due again after a restart.
  using Tell = std::function<void(const text::Json& job, const std::string& event)>;
  // Borrows the client. Looks from `first` on: whoever starts the daemon may wait for something
  // else.
  Notifier(cluster::Client& client, Tell tell, std::chrono::milliseconds first);
  ~Notifier();

 private:
  void Begin(cluster::Client& client);
  void Look(const text::Json& job);

  const Tell tell_;
  std::set<std::string> told_;  // uid and event; of the reflector's thread
  std::mutex mutex_;
  std::condition_variable wake_;
  bool is_stopped_ = false;
  std::unique_ptr<cluster::Reflector> reflector_;
  std::thread thread_;
};

}  // namespace local::daemon
