// For functions that run in a child that shares its parent's memory.
#pragma once

// The code that sanitizers add to a function expects the thread's own stack, and that the function
// returns.
#define MUSTER_UNSANITIZED __attribute__((no_sanitize("address", "thread", "undefined")))
