// TensorBoard's event files in a pod, read through the exec door as they grow.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cluster/client.h"
#include "runs/progress/history.h"
#include "runs/progress/tfrecord.h"
#include "text/json.h"

namespace arena {

inline constexpr const char* kEventFilesSource = "event files";
inline constexpr std::chrono::seconds kLookPatience{10};

// Where a program of the pod writes its event files, if the pod says so: the volume of --logdir,
// the folder of a `muster run`, or --logdir and its like among the words of the command. ""
// otherwise.
std::string LogdirOf(const text::Json& pod);

// One thread. Borrows nothing between calls.
class EventTail {
 public:
  // Runs a shell in the pod that prints what is new below its LogdirOf, and takes that; repeats
  // this while there is much. Blocks for `longest`. Reads the whole pod once, if `pod` is only a
  // part of it. An error where nothing can be run in the pod.
  base::Status Look(cluster::Client& client, const text::Json& pod,
                    std::chrono::steady_clock::duration longest = kLookPatience);
  // Whether the last look ended before it had read everything: the newest values are missing.
  bool is_behind() const { return is_behind_; }
  // Leaves out what was logged before: a folder may also have the files of earlier jobs.
  void Since(runs::Millis at) { since_ = at; }

  // What the shell printed: "OFFSET COUNT PATH", a newline and so many bytes, for each file.
  // Returns how many bytes there were; what is cut or malformed is left for the next look.
  size_t Take(std::string_view printed);
  // The command of each look, and what the next one reads from stdin.
  static std::vector<std::string> Command(const std::string& logdir);
  std::string Known() const;

  const runs::History& history() const { return history_; }

 private:
  struct File {
    uint64_t offset = 0;
    runs::RecordReader reader;
  };

  std::string pod_uid_, logdir_;       // of the pod that was looked at last
  std::map<std::string, File> files_;  // by path below the folder
  runs::History history_;
  runs::Millis since_ = 0;
  bool is_behind_ = false;
};

}  // namespace arena
