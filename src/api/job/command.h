// What a job runs, as a user types it.
#pragma once

#include <string>

#include "text/json.h"

namespace api {

// The container that trains: the master's, else the workers'. nullptr when the job has none.
const text::Json* FirstContainer(const text::Json& job);

// The command that the first replica runs; "" when it has none of its own.
std::string CommandOf(const text::Json& job);

}  // namespace api
