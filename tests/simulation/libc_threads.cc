// The C library's threads, clocks and random numbers, in whose place the program's own definitions
// come (a definition in the program goes before a shared library's). Outside of a life the mutexes
// work as they do for one thread, and clocks are the system's.
#include <dlfcn.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/random.h>
#include <sys/single_threaded.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstring>
#include <utility>

#include "processes.h"
#include "thread_table.h"

namespace simulation {
namespace {

// How often, of so many, others may run where a thread could go on.
constexpr unsigned kLockOdds = 24;
constexpr unsigned kWakeOdds = 6;

// 2026-11-24T00:00:00Z
constexpr int64_t kWallBegin = 1'795'478'400;

// What a pthread_mutex_t holds here. All zeros is a mutex that nobody holds, and glibc's
// initialiser.
struct Mutex {
  int owner;
  int count;
  int waiting;
  int unused;
  int kind;  // where glibc has it
};
static_assert(sizeof(Mutex) <= sizeof(pthread_mutex_t));

Mutex& MutexOf(pthread_mutex_t* mutex) { return *reinterpret_cast<Mutex*>(mutex); }

timespec ToTimespec(Nanos nanos) { return {nanos / kSecond, nanos % kSecond}; }

// On the life's clock.
Nanos DeadlineOf(clockid_t clock, const timespec& at) {
  const Nanos since =
      at.tv_sec > INT64_MAX / kSecond - 1 ? kNever : at.tv_sec * kSecond + at.tv_nsec;
  if (since == kNever) return kNever;
  return clock == CLOCK_REALTIME ? since - kWallBegin * kSecond - WallShift() : since - kSecond;
}

void Unlock(Mutex& mutex) {
  if (mutex.kind == PTHREAD_MUTEX_RECURSIVE && --mutex.count > 0) return;
  mutex.owner = 0;
  if (mutex.waiting > 0) WakeAll(Wait::kMutex, &mutex);
}

int Lock(Mutex& mutex) {
  const int self = ThisThread();
  if (mutex.kind == PTHREAD_MUTEX_RECURSIVE && mutex.owner == self) {
    ++mutex.count;
    return 0;
  }
  if (IsLive()) {
    if (mutex.owner == self) GoneWrong("a mutex is locked twice\n" + DescribeThreads());
    Step(kLockOdds);
    while (mutex.owner != 0) {
      ++mutex.waiting;
      Block(Wait::kMutex, &mutex, kNever);
      --mutex.waiting;
    }
  }
  mutex.owner = self;
  mutex.count = 1;
  return 0;
}

int AwaitCondition(pthread_cond_t* condition, pthread_mutex_t* mutex, Nanos deadline) {
  Unlock(MutexOf(mutex));
  const bool was_woken = Block(Wait::kCondition, condition, deadline);
  Mutex& held = MutexOf(mutex);
  while (held.owner != 0) {
    ++held.waiting;
    Block(Wait::kMutex, &held, kNever);
    --held.waiting;
  }
  held.owner = ThisThread();
  held.count = 1;
  return was_woken ? 0 : ETIMEDOUT;
}

int Futex(int* word, int operation, int value, const timespec* at) {
  const int command = operation & FUTEX_CMD_MASK;
  if (command == FUTEX_WAKE || command == FUTEX_WAKE_BITSET) {
    WakeAll(Wait::kFutex, word);
    return 1;
  }
  if (__atomic_load_n(word, __ATOMIC_SEQ_CST) != value) {
    errno = EAGAIN;
    return -1;
  }
  Nanos deadline = kNever;
  if (at != nullptr) {
    const bool is_wall = (operation & FUTEX_CLOCK_REALTIME) != 0;
    deadline = command == FUTEX_WAIT ? Now() + at->tv_sec * kSecond + at->tv_nsec
                                     : DeadlineOf(is_wall ? CLOCK_REALTIME : CLOCK_MONOTONIC, *at);
  }
  if (Block(Wait::kFutex, word, deadline)) return 0;
  errno = ETIMEDOUT;
  return -1;
}

template <typename Function>
Function* Real(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace
}  // namespace simulation

using namespace simulation;

extern "C" {

int pthread_create(pthread_t* thread, const pthread_attr_t*, void* (*run)(void*), void* argument) {
  __libc_single_threaded = 0;  // as the C library says; libstdc++ wakes nobody before
  *thread = static_cast<pthread_t>(StartThread(run, argument));
  Step(2);
  return 0;
}
int pthread_join(pthread_t thread, void** result) {
  void* const value = JoinThread(static_cast<int>(thread));
  if (result != nullptr) *result = value;
  return 0;
}
int pthread_detach(pthread_t thread) {
  DetachThread(static_cast<int>(thread));
  return 0;
}
pthread_t pthread_self() { return static_cast<pthread_t>(ThisThread()); }
int pthread_setname_np(pthread_t, const char*) { return 0; }

int pthread_mutex_init(pthread_mutex_t* mutex, const pthread_mutexattr_t* attributes) {
  std::memset(mutex, 0, sizeof *mutex);
  if (attributes != nullptr) pthread_mutexattr_gettype(attributes, &MutexOf(mutex).kind);
  return 0;
}
int pthread_mutex_destroy(pthread_mutex_t*) { return 0; }
int pthread_mutex_lock(pthread_mutex_t* mutex) { return Lock(MutexOf(mutex)); }
int pthread_mutex_trylock(pthread_mutex_t* mutex) {
  Mutex& one = MutexOf(mutex);
  const bool is_again = one.kind == PTHREAD_MUTEX_RECURSIVE && one.owner == ThisThread();
  if (one.owner != 0 && !is_again) return EBUSY;
  return Lock(one);
}
int pthread_mutex_unlock(pthread_mutex_t* mutex) {
  Unlock(MutexOf(mutex));
  if (IsLive()) Step(kLockOdds);
  return 0;
}

int pthread_cond_init(pthread_cond_t* condition, const pthread_condattr_t*) {
  std::memset(condition, 0, sizeof *condition);
  return 0;
}
int pthread_cond_destroy(pthread_cond_t*) { return 0; }
int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  return AwaitCondition(condition, mutex, kNever);
}
int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex, const timespec* at) {
  return AwaitCondition(condition, mutex, DeadlineOf(CLOCK_REALTIME, *at));
}
int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                           const timespec* at) {
  return AwaitCondition(condition, mutex, DeadlineOf(clock, *at));
}
int pthread_cond_signal(pthread_cond_t* condition) {
  if (!IsLive()) return 0;
  WakeOne(Wait::kCondition, condition);
  Step(kWakeOdds);
  return 0;
}
int pthread_cond_broadcast(pthread_cond_t* condition) {
  if (!IsLive()) return 0;
  WakeAll(Wait::kCondition, condition);
  Step(kWakeOdds);
  return 0;
}

int pthread_once(pthread_once_t* once, void (*run)()) {
  constexpr int kRunning = 1, kDone = 2;
  while (*once == kRunning && IsLive()) Block(Wait::kOnce, once, kNever);
  if (*once == kDone) return 0;
  *once = kRunning;
  run();
  *once = kDone;
  if (IsLive()) WakeAll(Wait::kOnce, once);
  return 0;
}

// Of static locals (Itanium C++ ABI 3.3.3): the first byte says that it is made, the second that
// somebody makes it.
int AcquireGuard(uint8_t* guard) asm("__cxa_guard_acquire");
void ReleaseGuard(uint8_t* guard) asm("__cxa_guard_release");
void AbortGuard(uint8_t* guard) asm("__cxa_guard_abort");

int AcquireGuard(uint8_t* guard) {
  while (guard[0] == 0 && guard[1] != 0 && IsLive()) Block(Wait::kOnce, guard, kNever);
  if (guard[0] != 0) return 0;
  guard[1] = 1;
  return 1;
}
void ReleaseGuard(uint8_t* guard) {
  guard[0] = 1;
  guard[1] = 0;
  if (IsLive()) WakeAll(Wait::kOnce, guard);
}
void AbortGuard(uint8_t* guard) {
  guard[1] = 0;
  if (IsLive()) WakeAll(Wait::kOnce, guard);
}

int sched_yield() {
  if (IsLive()) Pause();
  return 0;
}

int clock_gettime(clockid_t clock, timespec* time) {
  if (!IsLive()) return static_cast<int>(::syscall(SYS_clock_gettime, clock, time));
  // Not from zero, which some take for "never".
  *time = clock == CLOCK_REALTIME ? ToTimespec(Now() + WallShift() + kWallBegin * kSecond)
                                  : ToTimespec(Now() + kSecond);
  return 0;
}
int gettimeofday(timeval* time, void*) {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  *time = {now.tv_sec, now.tv_nsec / 1000};
  return 0;
}
time_t time(time_t* into) {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  if (into != nullptr) *into = now.tv_sec;
  return now.tv_sec;
}
int nanosleep(const timespec* wait, timespec*) {
  if (IsLive()) SleepFor(wait->tv_sec * kSecond + wait->tv_nsec);
  return 0;
}
int clock_nanosleep(clockid_t clock, int flags, const timespec* time, timespec*) {
  if (!IsLive()) return 0;
  const Nanos at = (flags & TIMER_ABSTIME) != 0 ? DeadlineOf(clock, *time)
                                                : Now() + time->tv_sec * kSecond + time->tv_nsec;
  SleepFor(at - Now());
  return 0;
}
int usleep(useconds_t micros) {
  if (IsLive()) SleepFor(Nanos{micros} * 1000);
  return 0;
}
unsigned sleep(unsigned seconds) {
  if (IsLive()) SleepFor(seconds * kSecond);
  return 0;
}

ssize_t getrandom(void* bytes, size_t count, unsigned) {
  for (size_t i = 0; i < count; ++i)
    static_cast<uint8_t*>(bytes)[i] = static_cast<uint8_t>(Random() >> 24);
  return static_cast<ssize_t>(count);
}

long syscall(long number, ...) {
  va_list list;
  va_start(list, number);
  long a[6];
  for (long& argument : a) argument = va_arg(list, long);
  va_end(list);
  if (number == SYS_futex && IsLive()) {
    return Futex(reinterpret_cast<int*>(a[0]), static_cast<int>(a[1]), static_cast<int>(a[2]),
                 reinterpret_cast<const timespec*>(a[3]));
  }
  if (number == SYS_pidfd_open && IsLive()) return OpenSimulatedPidfd(static_cast<int>(a[0]));
  if (number == SYS_pidfd_send_signal && IsLive()) {
    return SendSimulatedSignal(static_cast<int>(a[0]), static_cast<int>(a[1]),
                               reinterpret_cast<const siginfo_t*>(a[2]));
  }
  using Syscall = long(long, ...);
  static Syscall* const real = Real<Syscall>("syscall");
  return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

}  // extern "C"
