// One function for each verb, each in a file of its own: adds the verb to `parent`. `parent` and
// `context` must outlive the tree.
#pragma once

#include "ads/app.h"
#include "cli/command.h"

namespace ads {

void AddRun(cli::Command& parent, Context& context);
void AddPublish(cli::Command& parent, Context& context);  // opctl publish-image
void AddEntry(cli::Command& parent, Context& context);
void AddConfigure(cli::Command& parent, Context& context);
void AddCheck(cli::Command& parent, Context& context);  // with diagnose
void AddWatch(cli::Command& parent, Context& context);
void AddCancel(cli::Command& parent, Context& context);
void AddDelete(cli::Command& parent, Context& context);
void AddModelVerbs(cli::Command& parent);  // activate and deactivate

// The verbs of distributed-training.
void AddInit(cli::Command& parent, Context& context);
void AddShowConfig(cli::Command& parent, Context& context);
void AddBuildImage(cli::Command& parent, Context& context);
void AddPublishImage(cli::Command& parent, Context& context);
void AddClusterCancel(cli::Command& parent, Context& context);

// --oci-config, --oci-profile, --ads-config, and --auth with these choices.
void DeclareLoginFlags(cli::FlagSet& set, LoginFlags& flags,
                       const std::vector<std::string>& auth_choices);
// --debug, which logs each request.
void DeclareDebug(cli::FlagSet& set);

}  // namespace ads
