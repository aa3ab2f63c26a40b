// Notices when a job with --notify starts, hangs or ends, and lets the program send the
// notification.
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

#include "base/clock.h"
#include "cluster/client.h"
#include "cluster/reflector.h"
#include "text/json.h"

namespace local::daemon {

// The notice of the job that is due and has not been sent, "start", "hang" or "end", also of a job
// that is being or was deleted; nullopt when there is none. Pure.
std::optional<std::string> DueNotice(const text::Json& job);

class Notifier {
 public:
  // Called on a thread of its own, at most once for each notice during the life of this object. A
  // notice that is not recorded on the job as sent is due again after a restart.
  using Notify = std::function<void(const text::Json& job, const std::string& event)>;
  // Borrows the client. Begins after `first`, because whoever starts the daemon may be waiting for
  // something else.
  Notifier(cluster::Client& client, base::Clock& clock, Notify notify,
           std::chrono::milliseconds first);
  ~Notifier();

 private:
  void Begin(cluster::Client& client);
  void LookAtDeleted(cluster::Client& client);
  void Look(const text::Json& job);

  const Notify notify_;
  const base::Time begun_;
  std::set<std::string> notified_;  // uid and event; used by the reflector's thread
  std::mutex mutex_;
  std::condition_variable wake_;
  bool is_stopped_ = false;
  std::unique_ptr<cluster::Reflector> reflector_;
  std::thread thread_;
};

}  // namespace local::daemon
