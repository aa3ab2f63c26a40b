// What Ctrl-C, SIGTERM and a hang-up do to a command that makes a job: the program ends, and its
// last line says what has become of the job.
#pragma once

#include <deque>
#include <string>

namespace arena {

// One lives at a time. A signal that the program was started to ignore (nohup) stays ignored.
class InterruptNotice {
 public:
  // From now on a signal says `words`, one line.
  InterruptNotice(const std::string& program, std::string words);
  InterruptNotice(const InterruptNotice&) = delete;
  InterruptNotice& operator=(const InterruptNotice&) = delete;
  ~InterruptNotice();

  void Say(std::string words);
  // Until Release a signal waits, so that a job is whole or not there at all; whoever insists by a
  // second one hears `in_doubt`.
  void Hold(std::string in_doubt);
  // Ends the program when a signal has come meanwhile, with the words of the last Say.
  void Release();

 private:
  const std::string* Keep(std::string words);

  std::deque<std::string> lines_;  // all of them: a handler may be reading one
};

// "The job x runs on: ..."
std::string RunsOn(const std::string& program, const std::string& job);

}  // namespace arena
