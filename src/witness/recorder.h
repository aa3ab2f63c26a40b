// Asks ranks for PyTorch's flight recorder, where the start-up hook has begun torch's own worker
// server (warm/python/recorder.py): each listens at a Unix socket in the folder that MUSTER_STACKS
// names. The server answers in C++, also while the interpreter hangs.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/fd.h"

namespace witness {

// One round: all are asked at once. One thread.
class RecorderQuestion {
 public:
  // Asks who listens, without blocking. Others, and those that do not take it, give no answer.
  RecorderQuestion(const std::string& folder, const std::vector<pid_t>& pids);

  // The JSON that has come whole, by pid. Blocks until all have answered, at most for `limit`; may
  // be called again. An answer beyond 8 MiB, or one that is no answer, is dropped.
  std::map<pid_t, std::string> Await(std::chrono::milliseconds limit);

  // No more answers will come: whoever took the question has answered, or has closed.
  bool IsOver() const;

 private:
  struct Asked {
    base::Fd fd;
    std::string text;  // as it comes, with HTTP's head
    bool is_over = false;
  };
  void Read(Asked& asked);

  std::map<pid_t, Asked> asked_;
};

// Of a process's worker server, by the names of its threads.
int AnsweringThreads(pid_t pid);

// A worker server has several threads that answer in turn, and each keeps the memory that its
// largest answer took: eight keep 6 MB. Whoever asks again and again passes the turn on after each
// answer, by pings, so that it comes back to the thread that answered. One thread.
class RecorderTurns {
 public:
  using ThreadsOf = std::function<int(pid_t)>;  // how many answer in turn; 0 is not known
  explicit RecorderTurns(ThreadsOf threads_of = AnsweringThreads);

  // Call it when the answers of these have been read. It does not wait for the pings' answers. A
  // rank that does not take a ping within some milliseconds gets no more of them,
  void PassOn(const std::string& folder, const std::vector<pid_t>& pids);
  // but here: call it before the next question.
  void Finish(const std::string& folder);

 private:
  void Ping(const std::string& folder);

  ThreadsOf threads_of_;
  std::map<pid_t, int> owed_;     // pings that are not sent yet, by process
  std::map<pid_t, int> threads_;  // by process
  std::vector<base::Fd> pings_;   // of the last call
};

}  // namespace witness
