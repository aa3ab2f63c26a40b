// One function for each verb: it adds the verb's command, and borrows the context for as long as
// the tree lives.
#pragma once

#include "arena/app/app.h"

namespace arena {

void AddRun(cli::Command& root, Context& context);
void AddSubmit(cli::Command& root, Context& context);
void AddWhatIf(cli::Command& root, Context& context);
void AddList(cli::Command& root, Context& context);
void AddHistory(cli::Command& root, Context& context);
void AddShow(cli::Command& root, Context& context);
void AddReport(cli::Command& root, Context& context);
void AddExplain(cli::Command& root, Context& context);
void AddStacks(cli::Command& root, Context& context);
void AddCompare(cli::Command& root, Context& context);
void AddRerun(cli::Command& root, Context& context);
void AddCode(cli::Command& root, Context& context);
void AddFiles(cli::Command& root, Context& context);
void AddCp(cli::Command& root, Context& context);
void AddGet(cli::Command& root, Context& context);
void AddLogs(cli::Command& root, Context& context);
void AddAttach(cli::Command& root, Context& context);
void AddPortForward(cli::Command& root, Context& context);
void AddLogViewer(cli::Command& root, Context& context);
void AddDelete(cli::Command& root, Context& context);
void AddPrune(cli::Command& root, Context& context);
void AddSuspend(cli::Command& root, Context& context);
void AddResume(cli::Command& root, Context& context);
void AddTopNode(cli::Command& top, Context& context);
void AddTopJob(cli::Command& top, Context& context);
void AddTensorboard(cli::Command& root, Context& context);
void AddData(cli::Command& root, Context& context);
void AddSecret(cli::Command& root, Context& context);
void AddApply(cli::Command& root, Context& context);
void AddDiff(cli::Command& root, Context& context);
void AddInstall(cli::Command& root, Context& context);
void AddUninstall(cli::Command& root, Context& context);
void AddVersion(cli::Command& root, Context& context);
void AddWhoami(cli::Command& root, Context& context);
// `completion SHELL` with Arena's texts.
void AddArenaCompletion(cli::Command& root);
// Arena's commands for what muster does not run (serve, cron, ...), and its other trainers below
// `submit`: each says so in one line.
void AddUnsupportedCommands(cli::Command& root);
void AddUnsupportedTrainers(cli::Command& submit);

}  // namespace arena
