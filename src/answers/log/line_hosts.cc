#include "answers/log/line_hosts.h"

#include <algorithm>
#include <map>

#include "answers/log/line_prefixes.h"
#include "answers/rank_number.h"
#include "base/strings.h"

namespace answers {
namespace {

// Reads "HOST: ", as pdsh and DeepSpeed's launcher print it, and "rank3: ".
Host HostOf(std::string_view text) {
  const std::string_view line = ReadStamps(text).text;
  const size_t end = line.find_first_not_of(kHostCharacters);
  if (end == std::string_view::npos || line.substr(end, 2) != ": ") return {};
  const std::string_view name = line.substr(0, end);
  if (!IsHost(name)) return {};
  constexpr std::string_view kRank = "rank";
  const auto rank =
      name.starts_with(kRank) ? RankOfDigits(name.substr(kRank.size())) : std::nullopt;
  return Host{name, rank, end + 2};
}

// Reads "HOST 3: ", as PALS, Cray's mpiexec, prints the host and the rank.
Host HostOfTask(std::string_view text) {
  const std::string_view line = ReadStamps(text).text;
  const size_t end = line.find_first_not_of(kHostCharacters);
  if (end == std::string_view::npos || line[end] != ' ' || !IsHost(line.substr(0, end))) return {};
  std::string_view rest = line.substr(end + 1);
  const auto rank = TakeNumber(rest);
  if (!rank || !Take(rest, ":")) return {};
  if (!rest.empty() && !Take(rest, " ")) return {};
  return {line.substr(0, end), rank, line.size() - rest.size()};
}

// Returns those of HostOfTask if most lines have one and each rank has one host: then the numbers
// are ranks.
std::vector<Host> FindTasks(const std::vector<std::string_view>& lines) {
  constexpr size_t kFewest = 3;
  std::vector<Host> hosts;
  std::map<int, std::string_view> hosts_of_ranks;
  size_t marked = 0;
  for (const std::string_view line : lines) {
    const Host& host = hosts.emplace_back(HostOfTask(line));
    if (!host.rank) continue;
    ++marked;
    if (hosts_of_ranks.try_emplace(*host.rank, host.name).first->second != host.name) return {};
  }
  if (marked < kFewest || marked * 2 <= lines.size()) return {};
  return hosts;
}

Host StreamOf(std::string_view text) {
  constexpr size_t kShortestId = 10;
  const LogLine line = ReadStamps(text);
  const std::string_view stream = line.text.substr(0, line.text.find(' '));
  const size_t slash = stream.rfind('/');
  if (!line.time || stream.size() == line.text.size() || slash == stream.npos || slash == 0) {
    return {};
  }
  const std::string_view id = stream.substr(stream.find_last_of("/-") + 1);
  const bool is_id =
      id.size() >= kShortestId && id.find_first_not_of("0123456789abcdef") == id.npos;
  return is_id ? Host{stream, std::nullopt, stream.size() + 1} : Host{};
}

// Returns those of StreamOf that several lines have, or nearly all lines have one.
std::vector<Host> FindStreams(const std::vector<std::string_view>& lines) {
  std::vector<Host> streams;
  std::map<std::string_view, size_t> counts;
  size_t full = 0, marked = 0;
  for (const std::string_view line : lines) {
    const Host& stream = streams.emplace_back(StreamOf(line));
    full += !base::Trim(line).empty();
    marked += !stream.name.empty();
    if (!stream.name.empty()) ++counts[stream.name];
  }
  if (marked * 10 >= full * 9) return streams;
  for (Host& stream : streams) {
    if (!stream.name.empty() && counts[stream.name] == 1) stream = {};
  }
  return streams;
}

}  // namespace

std::vector<Host> FindHosts(const std::vector<std::string_view>& lines) {
  constexpr size_t kFewest = 3;
  std::vector<Host> hosts = FindTasks(lines);
  if (!hosts.empty()) return hosts;
  hosts.reserve(lines.size());
  std::map<std::string_view, size_t> counts;
  for (const std::string_view line : lines) {
    hosts.push_back(HostOf(line));
    if (!hosts.back().name.empty()) ++counts[hosts.back().name];
  }
  size_t marked = 0;
  for (const auto& [host, count] : counts) marked += count >= kFewest ? count : 0;
  const bool are_marked = marked * 2 > lines.size();
  if (!are_marked) return FindStreams(lines);
  for (Host& host : hosts) {
    if (!host.name.empty() && counts[host.name] < kFewest) host = {};
  }
  return hosts;
}

}  // namespace answers
