// The merged log of a job on its way to a browser: `muster logs --all` with its flags.
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

// Of a log that is read and not followed: at most as many lines as the page shows.
inline constexpr int64_t kMostLines = 20'000;
inline constexpr size_t kMostLogBytes = 8 << 20;

struct LogQuery {
  std::string run;   // name or id
  int64_t tail = 0;  // lines of each instance; 0 is from the start, or from `since`
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
  bool has_more = false;  // behind it
};
// What there is of it, up to its limit and kMostLogBytes. Blocks; `stop` ends it: kCancelled.
base::Result<LogText> ReadLog(cluster::Client& client, const arena::Context& context,
                              const LogQuery& query, const std::stop_token& stop);

// What is printed of it goes to `write`, which may block; false: nobody wants more. Of a job that
// is there it goes on until the job has ended. Blocks; `stop` ends it. That nobody wants more is a
// success.
using WriteLog = std::function<bool(std::string_view text)>;
base::Status FollowLog(cluster::Client& client, const arena::Context& context,
                       const LogQuery& query, const std::stop_token& stop, const WriteLog& write);

}  // namespace dashboard
