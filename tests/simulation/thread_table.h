// What libc_threads.cc needs of threads.cc: how a thread waits, and for what.
#pragma once

#include "threads.h"

namespace simulation {

enum class Wait { kNone, kMutex, kCondition, kFutex, kDescriptor, kSleep, kJoin, kOnce };

// Blocks the calling thread until WakeOne or WakeAll names the same thing, or the deadline. Whether
// it was woken.
bool Block(Wait wait, const void* on, Nanos deadline);
// By the dice which one.
void WakeOne(Wait wait, const void* on);
void WakeAll(Wait wait, const void* on);
// Until `is_ready`, which is asked again whenever somebody may have touched a descriptor.
bool BlockOnDescriptor(const std::function<bool()>& is_ready, Nanos deadline);
// Somebody has touched a descriptor.
void DescriptorsChanged();

Nanos WallShift();
int ThisThread();  // never 0
// Of the calling thread, for libc_events.cc.
uint64_t& WaitsAtOnce();
int StartThread(void* (*run)(void*), void* argument);
void* JoinThread(int id);
void DetachThread(int id);

}  // namespace simulation
