// `--notify`: who is told when a job starts, hangs or ends. The embedded cluster's daemon sees it
// happen (local/daemon/notifier.h) and has `muster __notify` tell.
#pragma once

#include <string>
#include <vector>

#include "arena/app/app.h"
#include "arena/submit/options.h"
#include "base/result.h"
#include "cli/flags.h"

namespace arena {

struct NotifyFlags {
  std::vector<std::string> targets;
  std::string on = "end";
  bool is_on_given = false;  // then it holds for those that the configuration names, too
};

void DeclareNotify(NotifyFlags& flags, cli::FlagSet& set);
base::Status CheckNotify(const NotifyFlags& flags);
// Marks the job. kInvalidArgument on another cluster, where nobody would tell.
base::Status MarkForNotice(const NotifyFlags& flags, const Context& context,
                           SubmitOptions& options);

// The hidden verb `__notify NAMESPACE NAME UID start|hang|end`.
void AddNotify(cli::Command& root, Context& context);

// What came of it, for people: "told at 10:00:00", "not told: why"; "" of a job that tells nobody.
std::string NoticeOf(const text::Json& job);

}  // namespace arena
