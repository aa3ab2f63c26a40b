// The names that shell completion offers. Each function asks the cluster that the command line
// chooses, once, and returns an empty list when the cluster cannot be reached.
#pragma once

#include <string>
#include <vector>

#include "arena/app/app.h"

namespace arena {

// The jobs of the command's namespace: all that the user may see, whoever created them.
std::vector<std::string> CompleteJobNames(Context& context);
// For a verb that takes one job: offers names only while the line has none.
void CompleteOneJob(cli::Command& verb, Context& context);
// --instance, -i.
void AddInstanceFlag(cli::FlagSet& set, std::string* to, Context& context,
                     std::string usage = "the instance; by default the master");
std::vector<std::string> CompleteDataNames(Context& context);
std::vector<std::string> CompleteSecretNames(Context& context);
// The values of the flags of `submit` and `run` that name objects.
void CompleteJobFlags(cli::FlagSet& set, Context& context);
// The nodes of the whole cluster.
std::vector<std::string> CompleteNamespaceNames(Context& context);
std::vector<std::string> CompleteNodeNames(Context& context);
std::vector<std::string> CompletePriorityNames(Context& context);

}  // namespace arena
