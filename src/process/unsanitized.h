// For functions that run in a child which shares its parent's memory.
#pragma once

// What the sanitizers add to a function counts on the thread's own stack and on a return.
#define MUSTER_UNSANITIZED __attribute__((no_sanitize("address", "thread", "undefined")))
