// /muster/progress: the progress of trainings, for muster's own commands and its page.
//   GET                     of the running jobs: {"items": [{"uid", "sources"}]}
//       ?uid=UID&points=N   of one, whether it runs or not, with at most N values of each scalar
//       ?uid=UID&ranks=N    what each of its ranks used over time, on a grid of at most N columns
#pragma once

#include <optional>

#include "local/daemon/progress/progress_files.h"
#include "local/daemon/progress/rank_files.h"
#include "net/http/types.h"

namespace local::daemon {

inline constexpr std::string_view kProgressPath = "/muster/progress";

// Nullopt for other requests.
std::optional<net::HttpResponse> AnswerProgress(ProgressFiles& files, RankFiles& ranks,
                                                const net::HttpRequest& request);

}  // namespace local::daemon
