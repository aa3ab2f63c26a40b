#include "arena/logs/event_tail.h"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

#include "api/names.h"
#include "api/object.h"
#include "api/resources.h"
#include "arena/jobs/tensorboard.h"
#include "base/strings.h"
#include "runs/progress/event.h"

namespace arena {
namespace {

constexpr size_t kMostTailedFiles = 64;
constexpr size_t kMostOfLook = 16 << 20;    // bytes of all commands together
constexpr size_t kMostOfCommand = 4 << 20;  // the script prints up to 3 MiB and one more file
constexpr size_t kLongestHeader = 4096;

// $1 is the folder. The lines of stdin, up to an empty one, are the offsets and paths of known
// files; they are not arguments because these are a part of a URL, whose length is limited. A file
// that is shorter than it was has been replaced.
constexpr const char* kScript = R"(cd "$1" 2>/dev/null || exit 0
set --
while IFS= read -r line && [ -n "$line" ]; do set -- "$@" "$line"; done
find . -name 'events.out.tfevents.*' -type f -exec ls -t {} + 2>/dev/null | head -n 64 | {
  all=0
  while read -r f; do
    o=0
    for known; do case $known in *" $f") o=${known%% *};; esac; done
    s=$(wc -c <"$f") || continue
    [ "$s" -lt "$o" ] && o=0
    n=$((s - o))
    [ "$n" -gt 1048576 ] && n=1048576
    [ "$n" -gt 0 ] && [ "$all" -lt 3145728 ] || continue
    all=$((all + n))
    printf '%s %s %s\n' "$o" "$n" "$f"
    tail -c +$((o + 1)) "$f" | head -c "$n"
  done
})";

// Many programs take the folder that they write to by one of these flags.
constexpr const char* kLogdirFlags[] = {"--logdir", "--log_dir", "--log-dir", "--logging_dir",
                                        "--logging-dir"};

std::string LogdirInWords(const text::Json& container) {
  std::vector<std::string> words;
  for (const char* list : {"command", "args"}) {
    for (const text::Json& text : text::Items(container, {list})) {
      if (!text.is_string()) continue;
      std::string line(text.get_string());
      std::replace_if(line.begin(), line.end(), [](char c) { return c == '\n' || c == '\t'; }, ' ');
      for (std::string& word : base::Split(line, ' ')) {
        if (!word.empty()) words.push_back(std::move(word));
      }
    }
  }
  for (size_t i = 0; i < words.size(); ++i) {
    for (const std::string_view flag : kLogdirFlags) {
      std::string value;
      if (words[i] == flag && i + 1 < words.size()) value = words[i + 1];
      if (words[i].starts_with(std::string(flag) + "=")) value = words[i].substr(flag.size() + 1);
      if (value.starts_with('/')) return value;
    }
  }
  return "";
}

// Returns what the command prints until it ends or `patience` is over.
base::Result<std::string> PrintedBy(cluster::Client& client, const text::Json& pod,
                                    std::vector<std::string> command, const std::string& stdin_text,
                                    std::chrono::steady_clock::duration patience) {
  cluster::ExecOptions options;
  options.command = std::move(command);
  options.has_stdin = true;
  options.container = api::kContainerName;
  TRY_ASSIGN(const auto stream, client.Exec(api::Namespace(pod), api::Name(pod), options));
  std::mutex mutex;
  std::condition_variable_any over;
  const std::jthread impatience([&](const std::stop_token& stop) {
    std::unique_lock lock(mutex);
    over.wait_for(lock, stop, patience, [] { return false; });
    if (!stop.stop_requested()) stream->Cancel();
  });
  std::string printed;
  TRY(stream->WriteStdin(stdin_text));
  while (printed.size() <= kMostOfCommand) {
    auto output = stream->Read();
    if (!output && printed.empty()) return base::Fail(output.error());
    if (!output || !*output) break;  // what has come in time is used
    if (!(*output)->is_stderr) printed += (*output)->bytes;
  }
  return printed;
}

// Lists return pods in part, without the containers' images; such a pod is read again.
base::Result<std::string> FindLogdir(cluster::Client& client, const text::Json& pod) {
  const text::Array& containers = text::Items(pod, {"spec", "containers"});
  const bool is_whole = !containers.empty() && text::Find(containers.front(), {"image"}) != nullptr;
  if (is_whole) return LogdirOf(pod);
  TRY_ASSIGN(const text::Json whole, client.Get(api::kPods, api::Namespace(pod), api::Name(pod)));
  return LogdirOf(whole);
}

}  // namespace

std::string LogdirOf(const text::Json& pod) {
  const text::Json* const container =
      text::ItemNamed(pod, {"spec", "containers"}, api::kContainerName);
  if (container == nullptr) return "";
  if (const text::Json* const mount = text::ItemNamed(*container, {"volumeMounts"}, kLogsVolume)) {
    return std::string(text::GetString(*mount, {"mountPath"}));
  }
  if (const text::Json* const folder = text::ItemNamed(*container, {"env"}, "MUSTER_RUN_DIR")) {
    return std::string(text::GetString(*folder, {"value"}));
  }
  if (const std::string_view noted = api::Annotation(pod, api::kLogdirAnnotation); !noted.empty()) {
    return std::string(noted);
  }
  return LogdirInWords(*container);
}

std::vector<std::string> EventTail::Command(const std::string& logdir) {
  return {"sh", "-c", kScript, "sh", logdir};
}

std::string EventTail::Known() const {
  std::string lines;
  for (const auto& [path, file] : files_) lines += fmt::format("{} {}\n", file.offset, path);
  return lines + "\n";
}

size_t EventTail::Take(std::string_view printed) {
  size_t taken = 0;
  while (!printed.empty()) {
    const size_t end = printed.substr(0, kLongestHeader).find('\n');
    if (end == std::string_view::npos) break;
    const std::string_view header = printed.substr(0, end);
    const size_t first = header.find(' '), second = header.find(' ', first + 1);
    if (first == std::string_view::npos || second == std::string_view::npos) break;
    const auto offset = base::ParseInt(header.substr(0, first));
    const auto count = base::ParseInt(header.substr(first + 1, second - first - 1));
    printed.remove_prefix(end + 1);
    if (!offset || !count || *offset < 0 || *count < 0) break;
    const std::string path(header.substr(second + 1));
    if (!files_.contains(path) && files_.size() >= kMostTailedFiles) break;
    File& file = files_[path];
    if (static_cast<uint64_t>(*offset) != file.offset) file = File();
    if (static_cast<uint64_t>(*offset) != file.offset) break;
    const std::string_view bytes = printed.substr(0, static_cast<size_t>(*count));
    printed.remove_prefix(bytes.size());
    file.offset += bytes.size();
    taken += bytes.size();
    file.reader.Feed(bytes, [this](std::string_view record) {
      const auto event = runs::ReadEvent(record);
      if (!event || event->at < since_) return;
      runs::LineProgress progress;
      progress.step = event->step;
      progress.scalars = event->scalars;
      history_.Note(kEventFilesSource, event->at, progress, std::nullopt);
    });
  }
  return taken;
}

base::Status EventTail::Look(cluster::Client& client, const text::Json& pod,
                             std::chrono::steady_clock::duration longest) {
  if (pod_uid_ != api::Uid(pod)) {
    TRY_ASSIGN(logdir_, FindLogdir(client, pod));
    pod_uid_ = api::Uid(pod);
  }
  if (logdir_.empty()) return {};
  is_behind_ = true;
  const auto until = std::chrono::steady_clock::now() + longest;
  for (size_t taken = 0; taken < kMostOfLook;) {
    const auto patience = until - std::chrono::steady_clock::now();
    if (patience <= patience.zero()) break;
    TRY_ASSIGN(const std::string printed,
               PrintedBy(client, pod, Command(logdir_), Known(), patience));
    const size_t got = Take(printed);
    if (got == 0) {
      is_behind_ = false;
      break;
    }
    taken += got;
  }
  return {};
}

}  // namespace arena
