// For the start of threads that are to take no signals.
#pragma once

#include <pthread.h>
#include <signal.h>

namespace base {

// While it lives, this thread takes no signal; nor do, ever, the threads that it starts meanwhile.
// Signals are the main thread's: one that another took could end the program on the spot.
class BlockSignals {
 public:
  BlockSignals() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_BLOCK, &all, &before_);
  }
  ~BlockSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  BlockSignals(const BlockSignals&) = delete;
  BlockSignals& operator=(const BlockSignals&) = delete;

 private:
  sigset_t before_;
};

}  // namespace base
