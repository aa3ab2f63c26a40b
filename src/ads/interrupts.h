// Interrupts: handles Ctrl-C, SIGTERM and a closed terminal where ending at once would leave runs
// that cost money.
#pragma once

#include <signal.h>

#include <memory>
#include <mutex>
#include <thread>

#include "ads/oci/breaker.h"
#include "base/fd.h"
#include "base/result.h"
#include "cli/terminal.h"

namespace ads {

// While it lives, these signals do not end the process: the first one breaks waits for the cloud
// and is reported by HasCome. SIGPIPE is ignored. Created and used by one thread, before other
// threads that would get signals start; a thread of its own receives them. Signals that were
// ignored when the process started (nohup) stay ignored.
class Interrupts {
 public:
  // `breaker` must outlive it.
  static base::Result<std::unique_ptr<Interrupts>> Catch(oci::Breaker& breaker);
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  // Whether a signal has come since the start, or since Rearm.
  bool HasCome();
  // Allows waits again; the next signal breaks them.
  void Rearm();

 private:
  Interrupts(oci::Breaker& breaker, const sigset_t& before, base::Fd signals, base::Fd stop);
  void Run();

  oci::Breaker& breaker_;
  const sigset_t before_;
  const base::Fd signals_;
  const base::Fd stop_;
  std::mutex mutex_;  // held from the read of a signal until its break is complete
  std::thread thread_;
};

// The result of a verb that may have been interrupted: if so, reports that on `err` and returns
// 130.
base::Result<int> ExitOrInterrupted(base::Result<int> result, cli::Output& err);

}  // namespace ads
