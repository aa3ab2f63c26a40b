#include "launch/output/line_sink.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <vector>

#include "base/fd.h"
#include "base/file.h"

namespace launch {
namespace {

TEST(LineSink, AFullDiskCostsOnlyWhatIsWrittenMeanwhile) {
  const base::Fd out(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  LineSink sink(out.get());
  std::vector<int> errors;
  sink.OnFailure([&errors](int error) { errors.push_back(error); });
  for (const char* const line : {"one\n", "two\n"}) {
    sink.AppendLines(1, "", line);
    sink.Flush();
  }
  EXPECT_EQ(errors, std::vector<int>{ENOSPC});
  const std::string path = ::testing::TempDir() + fmt::format("sink.{}", ::getpid());
  const base::Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  ASSERT_EQ(::dup2(file.get(), out.get()), out.get());
  sink.AppendLines(1, "", "three\n");
  sink.Flush();
  EXPECT_EQ(*base::ReadFile(path),
            "\nmuster-launch: 8 bytes are missing here: No space left on device\nthree\n");
  std::remove(path.c_str());
}

TEST(LineSink, NothingIsWrittenToAReaderThatIsGone) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const base::Fd writer(ends[1]);
  ::close(ends[0]);
  const auto before = ::signal(SIGPIPE, SIG_IGN);
  LineSink sink(writer.get());
  int failures = 0;
  sink.OnFailure([&failures](int) { ++failures; });
  sink.AppendLines(1, "", "one\n");
  sink.Flush();
  sink.AppendLines(1, "", "two\n");
  sink.Flush();
  ::signal(SIGPIPE, before);
  EXPECT_EQ(failures, 1);
}

}  // namespace
}  // namespace launch
