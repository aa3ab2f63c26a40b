// The last words of a command that may be interrupted at any time.
#pragma once

#include <deque>
#include <string>

namespace cli {

// As long as it lives, Ctrl-C, SIGTERM and a hang-up say one line on stderr and end the program,
// whatever it waits for. One lives at a time. A signal that the program was started to ignore
// (nohup) stays ignored.
class InterruptNotice {
 public:
  InterruptNotice(std::string words, int exit_code);
  InterruptNotice(const InterruptNotice&) = delete;
  InterruptNotice& operator=(const InterruptNotice&) = delete;
  ~InterruptNotice();

  // What a signal says from now on.
  void Say(std::string words);
  // Until Release a signal waits, so that what is being made is whole or not there at all; who
  // insists by a second one hears `in_doubt`.
  void Hold(std::string in_doubt);
  // Ends the program when a signal has come meanwhile, with the words of the last Say.
  void Release();

 private:
  const std::string* Keep(std::string words);

  std::deque<std::string> lines_;  // all of them: a handler may be reading one
};

}  // namespace cli
