#include "dashboard/log_stream.h"

#include <fmt/format.h>

#include <algorithm>

#include "arena/listing/records.h"
#include "base/clock.h"
#include "base/strings.h"

namespace dashboard {
namespace {

using base::Code;
using base::Fail;

base::Error NoMore() { return {Code::kCancelled, "no more of the log is wanted", 0}; }

// Keeps whole lines up to a number of lines and bytes.
class KeptLines : public cli::Output {
 public:
  explicit KeptLines(int64_t most) : left_(most) {}

  base::Status Write(std::string_view text) override {
    while (!text.empty()) {
      const size_t line = text.find('\n');
      const size_t size = line == std::string_view::npos ? text.size() : line + 1;
      if (left_ == 0 || kept_.text.size() + size > kMostLogBytes) {
        kept_.has_more = true;
        return Fail(NoMore());
      }
      --left_;
      kept_.text += text.substr(0, size);
      text.remove_prefix(size);
    }
    return {};
  }
  LogText Take() { return std::move(kept_); }

 private:
  int64_t left_;
  LogText kept_;
};

class PassedOn : public cli::Output {
 public:
  explicit PassedOn(const WriteLog& write) : write_(write) {}
  base::Status Write(std::string_view text) override {
    if (text.empty() || write_(text)) return {};
    return Fail(NoMore());
  }

 private:
  const WriteLog& write_;
};

base::Result<arena::AllLogsRequest> RequestFor(const arena::RunRecord& run, const LogQuery& query,
                                               const std::stop_token& stop) {
  arena::AllLogsRequest request{run.job};
  request.options.timestamps = true;
  request.options.since_time = query.since;
  if (query.tail > 0) request.options.tail_lines = query.tail;
  request.is_gone = run.deleted.has_value();
  request.is_raw = query.is_raw;
  request.only_errors = query.only_errors;
  request.choice.grep = query.grep;
  if (!query.ranks.empty()) {
    TRY_ASSIGN(request.choice.ranks, arena::ParseRanks(query.ranks));
  }
  request.choice.map = arena::RankMap::Of(run.job.job);
  request.stop = stop;
  return request;
}

base::Result<int64_t> Count(const net::Target& target, std::string_view name, int64_t usual) {
  const std::string_view text = target.Query(name);
  if (text.empty()) return usual;
  const auto value = base::ParseInt(text);
  if (value && *value >= 0 && *value <= kMostLines) return *value;
  return Fail(Code::kInvalidArgument,
              fmt::format("{} \"{}\" is invalid: a number from 0 to {}", name, text, kMostLines));
}

}  // namespace

base::Result<LogQuery> ParseLogQuery(const net::Target& target, std::string run) {
  LogQuery query;
  query.run = std::move(run);
  TRY_ASSIGN(query.tail, Count(target, "tail", 0));
  TRY_ASSIGN(query.limit, Count(target, "limit", kMostLines));
  query.since = target.Query("since");
  if (!query.since.empty()) {
    if (const auto time = base::ParseRfc3339(query.since); !time) {
      return Fail(time.error().Wrap("since"));
    }
  }
  query.grep = target.Query("grep");
  query.ranks = target.Query("ranks");
  if (!query.ranks.empty()) TRY(arena::ParseRanks(query.ranks));
  query.is_raw = target.Query("raw") == "1";
  query.only_errors = target.Query("errors") == "1";
  return query;
}

std::string CommandOf(const LogQuery& query, const std::string& program) {
  std::string command = fmt::format("{} logs {} --all --timestamps", program, query.run);
  if (query.tail > 0) command += fmt::format(" --tail={}", query.tail);
  if (!query.since.empty()) command += " --since-time=" + query.since;
  if (!query.ranks.empty()) command += " --rank=" + query.ranks;
  if (!query.grep.empty()) command += " --grep=" + base::ShellQuote(query.grep);
  if (query.is_raw) command += " --raw";
  if (query.only_errors) command += " --errors";
  return command;
}

base::Result<LogText> ReadLog(cluster::Client& client, const arena::Context& context,
                              const LogQuery& query, const std::stop_token& stop) {
  TRY_ASSIGN(const arena::RunRecord run, arena::FindRun(client, context, query.run));
  TRY_ASSIGN(const arena::AllLogsRequest request, RequestFor(run, query, stop));
  KeptLines lines(query.limit);
  const base::Status status = arena::PrintAllLogs(client, request, lines);
  LogText text = lines.Take();
  if (!status && !text.has_more) return Fail(status.error());
  return text;
}

base::Status FollowLog(cluster::Client& client, const arena::Context& context,
                       const LogQuery& query, const std::stop_token& stop, const WriteLog& write) {
  TRY_ASSIGN(const arena::RunRecord run, arena::FindRun(client, context, query.run));
  TRY_ASSIGN(const arena::AllLogsRequest request, RequestFor(run, query, stop));
  PassedOn out(write);
  base::Status status = request.is_gone ? arena::PrintAllLogs(client, request, out)
                                        : arena::FollowAllLogs(client, context, request, out);
  if (!status && status.error().code == Code::kCancelled) return {};
  return status;
}

}  // namespace dashboard
