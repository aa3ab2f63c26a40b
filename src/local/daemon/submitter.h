// The part of the submitter's environment that a job's pods are given.
#pragma once

#include <string>

#include "base/environment.h"

namespace local::daemon {

// A JSON object of the variables that define this machine's environment for a program: PATH, the
// active virtualenv or conda environment, libraries, locale, time zone, proxies without
// credentials.
std::string PodEnvironmentJson(const base::Environment& environment);

// Why a pod submitted from here could not run TensorBoard, and how to install it; "" when it can.
// May start the interpreter.
std::string MissingTensorboard(const base::Environment& environment);

}  // namespace local::daemon
