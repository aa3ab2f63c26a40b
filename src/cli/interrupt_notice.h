// The message of a command that is interrupted.
#pragma once

#include <deque>
#include <string>

namespace cli {

// While it lives, Ctrl-C, SIGTERM and a hang-up print one line on stderr and end the program,
// whatever it waits for. Only one may exist. Signals that were ignored when the program started
// (nohup) stay ignored.
class InterruptNotice {
 public:
  InterruptNotice(std::string words, int exit_code);
  InterruptNotice(const InterruptNotice&) = delete;
  InterruptNotice& operator=(const InterruptNotice&) = delete;
  ~InterruptNotice();

  // Sets the message that a signal prints from now on.
  void Say(std::string words);
  // Delays signals until Release, so that what is being created is complete or absent; a second
  // signal ends the program with `in_doubt`.
  void Hold(std::string in_doubt);
  // If a signal has come meanwhile, ends the program with the message of the last Say.
  void Release();

 private:
  const std::string* Keep(std::string words);

  std::deque<std::string> lines_;  // all of them, because a handler may be reading one
};

}  // namespace cli
