// Asks ranks for PyTorch's flight recorder. The start-up hook has started torch's own worker server
// in them (warm/python/recorder.py): each listens at a Unix socket in the folder that MUSTER_STACKS
// names. The server answers in C++, even while the interpreter hangs.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/fd.h"
#include "witness/stacks.h"

namespace witness {

// One round: all ranks are asked at once. One thread.
class RecorderQuestion {
 public:
  // Sends the requests, without blocking. Other processes, and ranks that do not accept, give no
  // answer.
  explicit RecorderQuestion(const PidsByFolder& asked);

  // The JSON of complete answers, by pid. Blocks until all have answered, at most for `limit`; may
  // be called again. An answer beyond 8 MiB, or an unreadable one, is dropped.
  std::map<pid_t, std::string> Await(std::chrono::milliseconds limit);

  // Whether a process that has a recorder did not accept the request, or has not answered yet.
  bool LacksAnswers() const;
  // These processes, and those whose answer Await does not return.
  std::vector<pid_t> Mute() const;

 private:
  struct Asked {
    base::Fd fd;
    std::string text;  // as it arrives, with HTTP's head
    bool is_over = false;
  };
  void Read(Asked& asked);

  std::map<pid_t, Asked> asked_;
  std::vector<pid_t> refused_;
};

// The number of a process's worker server threads, by their names.
int AnsweringThreads(pid_t pid);

// A worker server has several threads that answer in turn, and each keeps the memory of its largest
// answer: eight keep 6 MB. A client that asks again and again therefore passes the turn on after
// each answer, by pings, so that it comes back to the same thread. One thread.
class RecorderTurns {
 public:
  using ThreadsOf = std::function<int(pid_t)>;  // how many threads answer in turn; 0: unknown
  explicit RecorderTurns(ThreadsOf threads_of = AnsweringThreads);

  // Call it when these answers have been read. Does not wait for the pings' answers. If a rank does
  // not accept a ping within some milliseconds, its remaining pings are left to Finish.
  void PassOn(const std::string& folder, const std::vector<pid_t>& pids);
  // Tries once more to send the pings that PassOn left: call it before the next request.
  void Finish(const std::string& folder);

 private:
  void Ping(const std::string& folder);

  ThreadsOf threads_of_;
  std::map<pid_t, int> owed_;     // pings that have not been sent yet, by process
  std::map<pid_t, int> threads_;  // by process
  std::vector<base::Fd> pings_;   // of the last call
};

}  // namespace witness
