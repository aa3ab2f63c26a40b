// `--notify`: commands and URLs that are told when a job starts, hangs or ends. The embedded
// cluster's daemon notices (local/daemon/notifier.h) and starts `muster __notify`.
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
  bool is_on_given = false;  // if so, `on` also applies to the targets of the configuration
};

void DeclareNotify(NotifyFlags& flags, cli::FlagSet& set);
base::Status CheckNotify(const NotifyFlags& flags);
// Marks the job. kInvalidArgument on other clusters, which send no notices.
base::Status MarkForNotice(const NotifyFlags& flags, const Context& context,
                           SubmitOptions& options);

// The hidden verb `__notify NAMESPACE NAME UID start|hang|end`.
void AddNotify(cli::Command& root, Context& context);

// The result, for people: "told at 10:00:00", "not told: why"; "" for a job without targets.
std::string NoticeOf(const text::Json& job);

}  // namespace arena
