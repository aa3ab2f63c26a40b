// `--notify`: commands and URLs to notify when a job starts, hangs or ends. The embedded
// cluster's daemon notices (local/daemon/notifier.h) and starts `muster __notify`; on another
// cluster `run` itself notifies at the end.
#pragma once

#include <string>
#include <vector>

#include "arena/app/app.h"
#include "arena/submit/job/options.h"
#include "base/result.h"
#include "cli/flags.h"

namespace arena {

struct NotifyFlags {
  std::vector<std::string> targets;
  std::string on = "end";
  bool is_on_given = false;  // if so, `on` also applies to the targets of the configuration
};

void DeclareNotify(NotifyFlags& flags, cli::FlagSet& set);
base::Status CheckNotify(const NotifyFlags& flags);
// Marks the job, for the daemon. On another cluster only `run` itself can notify, by NotifyOfEnd,
// while it follows the job: kInvalidArgument for what it cannot report.
base::Status MarkForNotice(const NotifyFlags& flags, const Context& context, bool is_detached,
                           SubmitOptions& options);

// Notifies the targets of how the job `name` ended, if it has ended, and notes the results in the
// job. A URL that fails is asked again for five minutes.
void NotifyOfEnd(const NotifyFlags& flags, cluster::Client& client, Context& context,
                 const std::string& name);

// The hidden verb `__notify NAMESPACE NAME UID start|hang|end`.
void AddNotify(cli::Command& root, Context& context);

// The result, for people: "told at 10:00:00", "not told: why", while it is tried again "not told
// yet: why"; "" for a job without targets.
std::string NoticeOf(const text::Json& job);

}  // namespace arena
