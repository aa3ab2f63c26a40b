// The event files below one folder, read from where the last pass ended.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "runs/progress/event.h"
#include "runs/progress/tfrecord.h"

namespace local::daemon {

// One thread. Blocks for as long as its file system does.
class EventFolder {
 public:
  using Visit = std::function<void(const std::string& file, const runs::ScalarEvent& event)>;

  explicit EventFolder(std::string folder) : folder_(std::move(folder)) {}

  // Each new event with scalars; `file` is its path below the folder. A file that has become
  // shorter is read again from its start, a damaged one no further. Links are not followed.
  void Look(const Visit& visit);

 private:
  struct File {
    uint64_t offset = 0;
    runs::RecordReader reader;
  };

  void Read(const std::string& path, const std::string& name, const Visit& visit);

  const std::string folder_;
  std::map<std::string, File> files_;  // by path below the folder
};

}  // namespace local::daemon
