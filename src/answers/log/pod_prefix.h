// What names the pod, service or actor before a line, as kubectl, stern, docker and others print
// it.
#pragma once

#include "answers/log/log_line.h"

namespace answers {

// Takes "[pod/NAME/CONTAINER] ", "[NAME-worker-0] ", "worker-1  | " (docker compose),
// "(RayTrainWorker pid=7) ", "NAME CONTAINER " (stern), and the columns of Vertex AI's and Loki's
// tools. Pure.
bool TakePodPrefix(LogLine& line);

}  // namespace answers
