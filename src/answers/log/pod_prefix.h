// What names the pod, service or actor before a line, as kubectl, stern, docker and others print
// it.
#pragma once

#include <string_view>
#include <vector>

#include "answers/log/log_line.h"

namespace answers {

// Takes "[pod/NAME/CONTAINER] ", "[NAME-worker-0] ", "worker-1  | " (docker compose),
// "train.3.ID@HOST  | " (Docker Swarm), "(RayTrainWorker pid=7) ", "NAME CONTAINER " (stern), and
// the columns of Vertex AI's, Loki's and CloudWatch's tools. Pure.
bool TakePodPrefix(LogLine& line);

// Takes the namespace that stern prints before the pod, if nearly all lines have one. Pure.
void TakeNamespaces(std::vector<std::string_view>& lines);

}  // namespace answers
