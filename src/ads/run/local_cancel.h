// `distributed-training cancel` of what `run -b local` started.
#pragma once

#include <string>

#include "ads/app.h"

namespace ads {

// Whether the name is that of a training which was started on this machine, over or not.
bool IsLocalTraining(const Context& context, const std::string& name);

// Deletes its job and returns once its nodes have ended. One that is over stays as it is. Blocks.
base::Result<int> CancelLocalTraining(const Context& context, const std::string& name,
                                      cli::Output& out);

}  // namespace ads
