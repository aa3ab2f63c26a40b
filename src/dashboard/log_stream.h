// The merged log of a job for a browser: `muster logs --all` with its flags.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

#include "arena/app/app.h"
#include "arena/logs/all_logs.h"
#include "base/result.h"
#include "cli/terminal.h"
#include "cluster/client.h"
#include "net/http/types.h"

namespace dashboard {

// The most lines of a log that is not followed, as many as the page shows.
inline constexpr int64_t kMostLines = 20'000;
inline constexpr size_t kMostLogBytes = 8 << 20;

struct LogQuery {
  std::string run;   // name or id
  int64_t tail = 0;  // lines per instance; 0: from the start, or from `since`
  std::string since;
  std::string grep, ranks;
  bool is_raw = false, only_errors = false;
  int64_t limit = kMostLines;  // lines in all
};
// kInvalidArgument names the parameter.
base::Result<LogQuery> ParseLogQuery(const net::Target& target, std::string run);
// The command that prints the same: "muster logs base --all --grep x".
std::string CommandOf(const LogQuery& query, const std::string& program);

struct LogText {
  std::string text;
  bool has_more = false;  // after it
};
// The existing lines, up to the limit and kMostLogBytes. Blocks; kCancelled after `stop`.
base::Result<LogText> ReadLog(cluster::Client& client, const arena::Context& context,
                              const LogQuery& query, const std::stop_token& stop);

// `write` takes the output; it may block, and returns false to end it. FollowLog follows an
// existing job until it has ended. Blocks until then, or until `stop`. Success also if `write`
// ended it.
using WriteLog = std::function<bool(std::string_view text)>;
base::Status FollowLog(cluster::Client& client, const arena::Context& context,
                       const LogQuery& query, const std::stop_token& stop, const WriteLog& write);

}  // namespace dashboard
