// Where a Python process stands, from py-spy (a program that users install beside Python) where it
// is on PATH.
#pragma once

#include <sys/types.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/environment.h"
#include "base/fd.h"
#include "base/result.h"
#include "process/event_loop.h"

namespace launch {

// Of what `py-spy dump` prints: "load (train.py:30)", the innermost frame of the main thread, and,
// when that is not of `script`, ", called from main (train.py:55)". "" when there is no such
// thread.
std::string PlaceInDump(std::string_view dump, std::string_view script);

// Asks of several processes at once. One thread: the loop's.
class PythonFrames {
 public:
  // By pid; processes that py-spy could say nothing of are left out.
  using Done = std::function<void(const std::map<pid_t, std::string>& places)>;

  // `script`: the file that frames are best known by. `done` is called once, from the loop, when
  // all have answered, at the latest after ten seconds. It must not end this object.
  PythonFrames(process::EventLoop& loop, std::string script, Done done);
  ~PythonFrames();
  PythonFrames(const PythonFrames&) = delete;
  PythonFrames& operator=(const PythonFrames&) = delete;

  // False when py-spy is not on PATH, and `done` is not going to be called.
  bool Ask(const std::vector<pid_t>& pids, const base::Environment& environment);

 private:
  struct Question;

  base::Status Start(const std::string& program, pid_t pid, const base::Environment& environment);
  void OnOutput(Question& question);
  void Finish();

  process::EventLoop& loop_;
  std::string script_;
  Done done_;
  std::vector<std::unique_ptr<Question>> questions_;
  size_t open_ = 0;
  process::EventLoop::TimerId timer_ = 0;
};

}  // namespace launch
