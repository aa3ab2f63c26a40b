// Interrupts: Ctrl-C, SIGTERM and a terminal that is closed, where ending on the spot costs money.
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

// While it lives these signals end no process: the first breaks the waits for the cloud and has
// come. SIGPIPE does nothing. Made and asked by one thread, and before others that take signals
// start; a thread of its own hears of them. Signals that the process was started to ignore (nohup)
// stay ignored.
class Interrupts {
 public:
  // `breaker` outlives it.
  static base::Result<std::unique_ptr<Interrupts>> Catch(oci::Breaker& breaker);
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  // Whether one has come since the start, or since Rearm.
  bool HasCome();
  // Waits are waited for again; the next signal breaks these.
  void Rearm();

 private:
  Interrupts(oci::Breaker& breaker, const sigset_t& before, base::Fd signals, base::Fd stop);
  void Run();

  oci::Breaker& breaker_;
  const sigset_t before_;
  const base::Fd signals_;
  const base::Fd stop_;
  std::mutex mutex_;  // held from when a signal is read until its break is done
  std::thread thread_;
};

// What a verb ends with that may have been interrupted: that is told on `err`, and is 130.
base::Result<int> ExitOrInterrupted(base::Result<int> result, cli::Output& err);

}  // namespace ads
