// Used when starting threads that must not handle signals.
#pragma once

#include <pthread.h>
#include <signal.h>

namespace base {

// Blocks all signals in the calling thread while it exists. Threads that are started meanwhile
// inherit the mask and keep it: the main thread handles signals, because one that another thread
// took could end the program at once.
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
