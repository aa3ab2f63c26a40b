#include "cli/end_with_reader.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>

namespace cli {
namespace {

// Both ends of a pipe or of a pair of sockets.
struct Ends {
  base::Fd reader, writer;

  explicit Ends(bool is_pipe) {
    std::array<int, 2> fds{};
    if (is_pipe) {
      EXPECT_EQ(::pipe2(fds.data(), O_CLOEXEC), 0);
    } else {
      EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds.data()), 0);
    }
    reader.Reset(fds[0]);
    writer.Reset(fds[1]);
  }
};

void LoseReader(bool is_pipe) {
  ::signal(SIGPIPE, SIG_DFL);
  ::alarm(60);
  Ends ends(is_pipe);
  const EndWithReader watch(ends.writer.get());
  ends.reader.Reset();
  for (;;) ::pause();
}

TEST(EndWithReader, EndsTheProgramAsAWriteWould) {
  EXPECT_EXIT(LoseReader(true), testing::KilledBySignal(SIGPIPE), "");
  EXPECT_EXIT(LoseReader(false), testing::KilledBySignal(SIGPIPE), "");
}

TEST(EndWithReader, WhatIsReadAndWhatIsNotReadLivesOn) {
  const Ends ends(true);
  const EndWithReader pipe(ends.writer.get());
  const base::Fd file(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  const EndWithReader null(file.get());
  const EndWithReader none(-1);
}

}  // namespace
}  // namespace cli
