// `distributed-training cancel` for trainings started by `run -b local`.
#pragma once

#include <string>

#include "ads/app.h"

namespace ads {

// Whether a training of that name was started on this machine, finished or not.
bool IsLocalTraining(const Context& context, const std::string& name);

// Deletes its job and returns once its nodes have ended. Leaves a finished one alone. Blocks.
base::Result<int> CancelLocalTraining(const Context& context, const std::string& name,
                                      cli::Output& out);

}  // namespace ads
