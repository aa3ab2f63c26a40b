#include "witness/meetings.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <optional>

#include "base/fd.h"
#include "base/file.h"
#include "base/strings.h"

namespace witness {
namespace {

constexpr size_t kMostOfFile = 64 << 10;
constexpr int64_t kLatestMeeting = int64_t{1} << 52;  // milliseconds
constexpr std::string_view kOfRanks = "ranks", kOfLaunchers = "launchers";

std::string PathIn(const std::string& folder) { return folder + "/meetings"; }

std::optional<Meeting> ReadMeeting(std::string_view line) {
  const std::vector<std::string> words = base::Split(line, ' ');
  if (words.size() != 3 || (words[0] != kOfRanks && words[0] != kOfLaunchers)) return std::nullopt;
  const auto begin = base::ParseInt(words[1]), end = base::ParseInt(words[2]);
  if (!begin || !end || *begin < 0 || *end < *begin || *end > kLatestMeeting) return std::nullopt;
  return Meeting{*begin, *end, words[0] == kOfLaunchers};
}

int64_t MillisOf(base::Time time) {
  return std::chrono::floor<std::chrono::milliseconds>(time).time_since_epoch().count();
}

}  // namespace

std::vector<Meeting> ReadMeetings(std::string_view lines) {
  std::vector<Meeting> all;
  for (const std::string& line : base::Split(lines, '\n')) {
    if (const auto meeting = ReadMeeting(line)) all.push_back(*meeting);
  }
  std::sort(all.begin(), all.end(), [](const Meeting& a, const Meeting& b) {
    if (a.is_of_launchers != b.is_of_launchers) return a.is_of_launchers;
    return a.begin < b.begin;
  });
  std::vector<Meeting> merged;
  for (const Meeting& meeting : all) {
    const bool goes_on = !merged.empty() && meeting.begin <= merged.back().end &&
                         merged.back().is_of_launchers == meeting.is_of_launchers;
    if (goes_on) {
      merged.back().end = std::max(merged.back().end, meeting.end);
    } else {
      merged.push_back(meeting);
    }
  }
  return merged;
}

MeetingsFile::MeetingsFile(const std::string& folder) : path_(PathIn(folder)) {}

std::vector<Meeting> MeetingsFile::ReadNew() {
  if (read_ >= kMostOfFile) return {};
  const base::Fd fd(
      ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW));
  struct stat info{};
  if (!fd || ::fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode)) return {};
  if (static_cast<uint64_t>(info.st_size) <= read_) return {};
  std::string text(kMostOfFile - read_, '\0');
  const ssize_t count = ::pread(fd.get(), text.data(), text.size(), static_cast<off_t>(read_));
  text.resize(count > 0 ? static_cast<size_t>(count) : 0);
  const size_t end = text.rfind('\n');
  if (end == std::string::npos) return {};
  text.resize(end + 1);
  read_ += text.size();
  return ReadMeetings(text);
}

bool HasMet(const std::string& folder, base::Time since) {
  struct stat info{};
  if (::lstat(PathIn(folder).c_str(), &info) != 0 || info.st_size == 0) return false;
  const auto last =
      std::chrono::seconds(info.st_mtim.tv_sec) + std::chrono::nanoseconds(info.st_mtim.tv_nsec);
  return last >= since.time_since_epoch();
}

void NoteMeeting(const std::string& folder, base::Time begin, base::Time end) {
  if (!base::MakeDirs(folder, 0700)) return;
  const base::Fd fd(
      ::open(PathIn(folder).c_str(), O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  const std::string line = fmt::format("{} {} {}\n", kOfLaunchers, MillisOf(begin), MillisOf(end));
  if (fd) [[maybe_unused]]
    const ssize_t written = ::write(fd.get(), line.data(), line.size());
}

}  // namespace witness
