// The names that a shell's completion offers. Each asks the cluster that the line chooses, once;
// nothing comes back when it cannot be reached, for a completion has nobody to complain to.
#pragma once

#include <string>
#include <vector>

#include "arena/app/app.h"

namespace arena {

// Of the command's namespace; jobs are all that the user may see, whoever made them.
std::vector<std::string> CompleteJobNames(Context& context);
// The same while no job stands on the line: for a verb of one job.
void CompleteOneJob(cli::Command& verb, Context& context);
// --instance, -i.
void AddInstanceFlag(cli::FlagSet& set, std::string* to, Context& context,
                     std::string usage = "the instance; by default the master");
std::vector<std::string> CompleteDataNames(Context& context);
// Of the cluster.
std::vector<std::string> CompleteNamespaceNames(Context& context);
std::vector<std::string> CompleteNodeNames(Context& context);
std::vector<std::string> CompletePriorityNames(Context& context);

}  // namespace arena
