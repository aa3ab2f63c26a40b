// One function a verb: each adds its command, and borrows the context for as long as the tree
// lives.
#pragma once

#include "arena/app.h"

namespace arena {

void AddSubmit(cli::Command& root, Context& context);
void AddList(cli::Command& root, Context& context);
void AddGet(cli::Command& root, Context& context);
void AddLogs(cli::Command& root, Context& context);
void AddDelete(cli::Command& root, Context& context);
void AddTopNode(cli::Command& top, Context& context);
void AddTopJob(cli::Command& top, Context& context);
void AddData(cli::Command& root, Context& context);
void AddVersion(cli::Command& root, Context& context);
void AddWhoami(cli::Command& root, Context& context);

}  // namespace arena
