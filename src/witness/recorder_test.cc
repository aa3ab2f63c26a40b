#include "witness/recorder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <functional>
#include <thread>

namespace witness {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Ranks whose servers behave in different ways, each on a thread of its own. PIDs are only names
// here.
class RecorderTest : public testing::Test {
 protected:
  void SetUp() override {
    ::signal(SIGPIPE, SIG_IGN);
    std::string pattern = testing::TempDir() + "/muster-recorder-XXXXXX";
    folder_ = mkdtemp(pattern.data());
  }
  void TearDown() override {
    for (std::thread& thread : threads_) thread.join();
    std::filesystem::remove_all(folder_);
  }

  // `serve` gets the asker's connection after its request was read.
  void Rank(pid_t pid, std::function<void(int)> serve) {
    const int listener = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string path = fmt::format("{}/{}.recorder", folder_, pid);
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    ASSERT_EQ(::bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    ASSERT_EQ(::listen(listener, 1), 0);
    threads_.emplace_back([listener, serve = std::move(serve)] {
      const int fd = ::accept(listener, nullptr, nullptr);
      char request[4096];
      (void)!::read(fd, request, sizeof request);
      serve(fd);
      ::close(fd);
      ::close(listener);
    });
  }
  static void Send(int fd, std::string_view text) {
    (void)!::send(fd, text.data(), text.size(), MSG_NOSIGNAL);
  }
  static void AwaitEnd(int fd) {
    char byte;
    while (::read(fd, &byte, 1) > 0) {
    }
  }

  std::string folder_;
  std::vector<std::thread> threads_;
};

TEST_F(RecorderTest, TakesWholeAnswers) {
  Rank(1, [](int fd) { Send(fd, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"); });
  // This server leaves the connection open.
  Rank(2, [](int fd) {
    Send(fd, "HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\n[1");
    Send(fd, "]");
    AwaitEnd(fd);
  });
  RecorderQuestion question(PidsByFolder{{folder_, {1, 2, 3}}});
  EXPECT_EQ(question.Await(seconds(10)), (std::map<pid_t, std::string>{{1, "{}"}, {2, "[1]"}}));
}

TEST_F(RecorderTest, WhoSaysNothingCostsTheLimitAndNoMore) {
  Rank(1, AwaitEnd);
  const auto begin = std::chrono::steady_clock::now();
  {
    RecorderQuestion question(PidsByFolder{{folder_, {1}}});
    EXPECT_TRUE(question.Await(milliseconds(50)).empty());
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, seconds(5));
}

TEST_F(RecorderTest, NonsenseAndRefusalsAreNoAnswers) {
  Rank(1, [](int fd) { Send(fd, "\xff\xfe garbage\r\n\r\n"); });
  Rank(2, [](int fd) { Send(fd, "HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\nno"); });
  Rank(3, [](int fd) { Send(fd, "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n"); });
  Rank(4, [](int) {});  // it dies while it is asked
  RecorderQuestion question(PidsByFolder{{folder_, {1, 2, 3, 4}}});
  EXPECT_TRUE(question.Await(seconds(10)).empty());
}

TEST_F(RecorderTest, WhoHasARecorderAndGivesNoUsableAnswerIsMute) {
  Rank(1, [](int fd) { Send(fd, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"); });
  Rank(2, [](int fd) { Send(fd, "\xff\xfe garbage\r\n\r\n"); });
  Rank(3, AwaitEnd);
  // The socket is bound, but nobody listens.
  const int dead = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = folder_ + "/4.recorder";
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  ASSERT_EQ(::bind(dead, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  RecorderQuestion question(PidsByFolder{{folder_, {1, 2, 3, 4, 5}}});
  EXPECT_EQ(question.Await(milliseconds(500)).size(), 1u);
  std::vector<pid_t> mute = question.Mute();
  std::sort(mute.begin(), mute.end());
  EXPECT_EQ(mute, (std::vector<pid_t>{2, 3, 4})) << "the fifth has none";
  EXPECT_TRUE(question.LacksAnswers());
  ::close(dead);
}

TEST_F(RecorderTest, AGigabyteIsDropped) {
  Rank(1, [](int fd) {
    Send(fd, "HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n");
    const std::string piece(1 << 20, 'x');
    for (int i = 0; i < 1000; ++i) {
      if (::send(fd, piece.data(), piece.size(), MSG_NOSIGNAL) <= 0) return;
    }
    ADD_FAILURE() << "all of it was taken";
  });
  RecorderQuestion question(PidsByFolder{{folder_, {1}}});
  EXPECT_TRUE(question.Await(seconds(30)).empty());
}

TEST_F(RecorderTest, ALongPathIsNoHindrance) {
  std::filesystem::create_directories(folder_ + "/" + std::string(150, 'd'));
  RecorderQuestion question(PidsByFolder{{folder_ + "/" + std::string(150, 'd'), {1}}});
  EXPECT_TRUE(question.Await(seconds(1)).empty());
  EXPECT_TRUE(
      RecorderQuestion(PidsByFolder{{folder_ + "/nothing", {1}}}).Await(seconds(1)).empty());
}

// The queue of connections holds two.
TEST_F(RecorderTest, PingsThatARankHasNotTakenFollowBeforeTheNextQuestion) {
  const int listener = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = folder_ + "/7.recorder";
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  ASSERT_EQ(::bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(::listen(listener, 1), 0);
  RecorderTurns turns([](pid_t) { return 4; });
  const auto taken = [listener] {
    int count = 0;
    for (int fd = 0; (fd = ::accept(listener, nullptr, nullptr)) >= 0; ++count) ::close(fd);
    return count;
  };
  turns.PassOn(folder_, {7});
  EXPECT_EQ(taken(), 2);
  turns.Finish(folder_);
  EXPECT_EQ(taken(), 1);
  turns.Finish(folder_);
  EXPECT_EQ(taken(), 0);
  ::close(listener);
}

TEST_F(RecorderTest, TheTurnIsPassedOnByAPingToEachOtherThread) {
  const int listener = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = folder_ + "/7.recorder";
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  ASSERT_EQ(::bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(::listen(listener, 16), 0);
  RecorderTurns turns([](pid_t pid) { return pid == 7 ? 8 : pid == 8 ? 1000 : 0; });
  turns.PassOn(folder_, {7, 8, 9});
  for (int i = 0; i < 7; ++i) {
    const int fd = ::accept(listener, nullptr, nullptr);
    char request[4096];
    const ssize_t size = ::read(fd, request, sizeof request);
    ASSERT_GT(size, 0);
    EXPECT_TRUE(std::string_view(request, static_cast<size_t>(size))
                    .starts_with("POST /handler/ping HTTP/1.1\r\n"));
    ::close(fd);
  }
  EXPECT_EQ(::fcntl(listener, F_SETFL, O_NONBLOCK), 0);
  EXPECT_EQ(::accept(listener, nullptr, nullptr), -1);
  ::close(listener);
  // Nobody accepts connections any more.
  turns.PassOn(folder_, {7});
  turns.Finish(folder_);
  EXPECT_EQ(AnsweringThreads(::getpid()), 0);
}

}  // namespace
}  // namespace witness
