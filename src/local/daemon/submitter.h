// What of the submitter's environment a job's pods are given.
#pragma once

#include <string>

#include "base/environment.h"

namespace local::daemon {

// A JSON object of the variables that make this machine's environment what it is for a program:
// PATH, the active virtualenv or conda, libraries, locale, time zone, proxies without credentials.
std::string PodEnvironmentJson(const base::Environment& environment);

// Why a pod submitted from here could not run TensorBoard, and how to install it; "" when it could.
// May start the interpreter.
std::string MissingTensorboard(const base::Environment& environment);

}  // namespace local::daemon
