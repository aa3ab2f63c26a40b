#include "arena/run/trial_events.h"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "base/file.h"
#include "runs/progress/event.h"
#include "runs/progress/tfrecord.h"

namespace arena {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxEventFile = 64 << 20;
constexpr size_t kMostEventFiles = 100;

}  // namespace

std::map<std::string, double> LoggedScalars(const std::string& folder) {
  std::vector<std::pair<fs::file_time_type, std::string>> files;
  std::error_code failed;
  for (auto each = fs::recursive_directory_iterator(folder, failed);
       !failed && each != fs::recursive_directory_iterator(); each.increment(failed)) {
    std::error_code unreadable;
    if (each->path().filename().string().find("tfevents") == std::string::npos) continue;
    if (!each->is_regular_file(unreadable) || files.size() >= kMostEventFiles) continue;
    files.emplace_back(each->last_write_time(unreadable), each->path().string());
  }
  std::sort(files.begin(), files.end());
  std::map<std::string, double> scalars;
  for (const auto& [time, path] : files) {
    const auto content = base::ReadFile(path, kMaxEventFile);
    if (!content) continue;
    runs::RecordReader().Feed(*content, [&](std::string_view record) {
      const auto event = runs::ReadEvent(record);
      if (!event) return;
      for (const auto& [tag, value] : event->scalars) scalars[tag] = value;
    });
  }
  return scalars;
}

}  // namespace arena
