#include "rendezvous/store/server.h"

#include <gtest/gtest.h>

#include <thread>

#include "rendezvous/testing/store_test_client.h"
#include "rendezvous/testing/store_thread.h"

namespace rendezvous {
namespace {

using testing::Byte;
using testing::Number;
using testing::StoreThread;
using testing::TestSocket;
using testing::Text;

std::unique_ptr<StoreThread> StartStore(StoreOptions options = {}) {
  auto store = StoreThread::Start(base::SystemClock(), options);
  EXPECT_TRUE(store) << (store ? "" : store.error().message);
  return std::move(*store);
}

// A client that has sent its hello.
struct NewClient : TestSocket {
  explicit NewClient(const StoreThread& store) : TestSocket(store.port()) {
    Send(testing::Hello());
  }
};

TEST(StoreServer, AnswersPipelinedRequestsInOrder) {
  const auto store = StartStore();
  NewClient client(*store);
  client.Send(testing::Set("k", "value") + testing::Get("k") + testing::Add("n", 5) +
              testing::Add("n", -7) + testing::Get("none") + Byte(7));
  EXPECT_EQ(client.ReceiveText(), "value");
  EXPECT_EQ(client.ReceiveNumber<int64_t>(), 5);
  EXPECT_EQ(client.ReceiveNumber<int64_t>(), -2);
  EXPECT_EQ(client.ReceiveText(), "");
  EXPECT_EQ(client.ReceiveNumber<int64_t>(), 2);
}

TEST(StoreServer, OfThisMachineAloneIsReachedByItsLoopbackOnly) {
  StoreOptions options;
  options.reach = Listener::Reach::kThisMachine;
  const auto store = StartStore(options);
  NewClient client(*store);
  client.Send(testing::Add("n", 5));
  EXPECT_EQ(client.ReceiveNumber<int64_t>(), 5);
  const auto listener = Listener::Bind("", 0, Listener::Reach::kThisMachine);
  ASSERT_TRUE(listener);
  char device[16] = "";
  socklen_t size = sizeof device;
  ASSERT_EQ(::getsockopt(listener->fd(), SOL_SOCKET, SO_BINDTODEVICE, device, &size), 0);
  EXPECT_STREQ(device, "lo");
}

TEST(StoreServer, ComparesAndSetsAsPyTorchDoes) {
  const auto store = StartStore();
  NewClient client(*store);
  const auto compare_set = [&](const std::string& expected, const std::string& desired) {
    client.Send(Byte(2) + Text("k") + Text(expected) + Text(desired));
    return client.ReceiveText();
  };
  EXPECT_EQ(compare_set("x", "a"), "x");
  EXPECT_EQ(compare_set("", "a"), "a");
  EXPECT_EQ(compare_set("b", "c"), "a");
  EXPECT_EQ(compare_set("a", "c"), "c");
}

TEST(StoreServer, WakesAWaiterOnceAllItsKeysAreThere) {
  const auto store = StartStore();
  NewClient waiter(*store);
  NewClient setter(*store);
  waiter.Send(testing::Wait({"a", "b"}));
  setter.Send(testing::Set("a", "1") + testing::Get("a"));
  EXPECT_EQ(setter.ReceiveText(), "1");
  EXPECT_TRUE(waiter.IsSilent());
  setter.Send(testing::Add("b", 1));
  EXPECT_EQ(waiter.ReceiveNumber<uint8_t>(), 0);
}

TEST(StoreServer, ACancelledWaitIsNotAnsweredLater) {
  const auto store = StartStore();
  NewClient client(*store);
  client.Send(testing::Wait({"a"}) + testing::CancelWait());
  EXPECT_EQ(client.ReceiveNumber<uint8_t>(), 1);
  client.Send(testing::Set("a", "1") + testing::Get("a"));
  EXPECT_EQ(client.ReceiveText(), "1");
}

TEST(StoreServer, AnOldClientThatGaveUpWaitingIsNotSentTheLateAnswer) {
  const auto store = StartStore();
  TestSocket client(store->port());
  client.Send(Byte(5) + testing::Keys({"a"}));
  client.Send(Byte(3) + Text("n") + Number(int64_t{7}));
  EXPECT_EQ(client.ReceiveNumber<int64_t>(), 7);
  NewClient setter(*store);
  setter.Send(testing::Set("a", "1") + testing::Get("a"));
  EXPECT_EQ(setter.ReceiveText(), "1");
  client.Send(Byte(3) + Text("n") + Number(int64_t{1}));
  EXPECT_EQ(client.ReceiveNumber<int64_t>(), 8);
}

TEST(StoreServer, NotifiesWatchersOfOldTorch) {
  const auto store = StartStore();
  TestSocket watcher(store->port());
  watcher.Send(Byte(7) + Text("k"));
  EXPECT_EQ(watcher.ReceiveNumber<uint8_t>(), 3);
  NewClient client(*store);
  client.Send(testing::Set("k", "a") + testing::Set("k", "b") + Byte(8) + Text("k"));
  EXPECT_EQ(client.ReceiveNumber<int64_t>(), 1);
  const auto event = [&] {
    std::string text = std::to_string(watcher.ReceiveNumber<uint8_t>());
    for (int i = 0; i < 3; ++i) text += " " + watcher.ReceiveText();
    return text;
  };
  EXPECT_EQ(event(), "1 k  a");
  EXPECT_EQ(event(), "0 k a b");
  EXPECT_EQ(event(), "2 k b ");
}

TEST(StoreServer, AQueueWakesOneWaiterForEachItem) {
  const auto store = StartStore();
  NewClient first(*store);
  NewClient second(*store);
  NewClient pusher(*store);
  const std::string length = Byte(16) + Text("q");
  first.Send(testing::Wait({"q"}) + length);
  EXPECT_EQ(first.ReceiveNumber<int64_t>(), 0);
  second.Send(testing::Wait({"q"}) + length);
  EXPECT_EQ(second.ReceiveNumber<int64_t>(), 0);
  pusher.Send(Byte(14) + Text("q") + Text("x") + length);
  EXPECT_EQ(pusher.ReceiveNumber<int64_t>(), 1);
  EXPECT_EQ(first.ReceiveNumber<uint8_t>(), 0);
  EXPECT_TRUE(second.IsSilent());
  first.Send(Byte(15) + Text("q") + length);
  EXPECT_EQ(first.ReceiveNumber<int64_t>(), 1);
  EXPECT_EQ(first.ReceiveText(), "x");
  EXPECT_EQ(first.ReceiveNumber<int64_t>(), 0);
  first.Send(Byte(15) + Text("q"));
  EXPECT_EQ(first.ReceiveNumber<int64_t>(), 0);
}

TEST(StoreServer, ABarrierEndsForAllWhenTheLastHasCome) {
  const auto store = StartStore();
  NewClient first(*store);
  NewClient last(*store);
  const std::string barrier = Byte(18) + Text("b") + Number(int64_t{2});
  first.Send(barrier + Byte(7));
  EXPECT_EQ(first.ReceiveNumber<int64_t>(), 1);
  last.Send(barrier);
  EXPECT_EQ(last.ReceiveNumber<uint8_t>(), 0);
  EXPECT_EQ(first.ReceiveNumber<uint8_t>(), 0);
}

TEST(StoreServer, GarbageEndsOnlyItsOwnConnection) {
  const auto store = StartStore();
  NewClient good(*store);
  for (const std::string& bad :
       {std::string("GET / HTTP/1.1\r\n\r\n"), std::string(1000, '\xff'),
        std::string(1, '\0') + std::string(63, 'A'), testing::Hello() + Byte(99),
        testing::Hello() + testing::Set("t", "no number") + testing::Add("t", 1)}) {
    TestSocket client(store->port());
    client.Send(bad);
    EXPECT_TRUE(client.IsClosedByPeer());
  }
  good.Send(testing::Set("k", "v") + testing::Get("k"));
  EXPECT_EQ(good.ReceiveText(), "v");
}

TEST(StoreServer, HoldsValuesOfAHundredMegabytes) {
  const auto store = StartStore();
  NewClient client(*store);
  std::string large(100 << 20, 'x');
  for (size_t i = 0; i < large.size(); i += 4096) large[i] = static_cast<char>(i >> 12);
  client.Send(testing::Set("large", large));
  client.Send(testing::Get("large") + testing::Get("large"));
  EXPECT_TRUE(client.ReceiveText() == large);
  EXPECT_TRUE(client.ReceiveText() == large);
}

TEST(StoreServer, ASlowReaderIsNotReadFromUntilItHasCaughtUp) {
  StoreOptions options;
  options.slow_reader_bytes = 64 << 10;
  const auto store = StartStore(options);
  NewClient slow(*store);
  const std::string value(20'000, 'v');
  slow.Send(testing::Set("k", value));
  constexpr int kGets = 20'000;  // 400 MB of answers
  std::thread sender([&] {
    for (int i = 0; i < kGets; ++i) slow.Send(testing::Get("k"));
  });
  NewClient other(*store);
  other.Send(testing::Add("n", 1));
  EXPECT_EQ(other.ReceiveNumber<int64_t>(), 1);
  int right = 0;
  for (int i = 0; i < kGets; ++i) right += slow.ReceiveText() == value ? 1 : 0;
  EXPECT_EQ(right, kGets);
  sender.join();
}

TEST(StoreServer, AFullStoreRefusesMoreAndServesOn) {
  StoreOptions options;
  options.max_bytes = 1 << 20;
  const auto store = StartStore(options);
  NewClient greedy(*store);
  greedy.Send(testing::Set("a", std::string(2 << 20, 'x')));
  EXPECT_TRUE(greedy.IsClosedByPeer());
  NewClient modest(*store);
  modest.Send(testing::Set("a", std::string(1000, 'x')) + testing::Get("a"));
  EXPECT_EQ(modest.ReceiveText().size(), 1000U);
}

TEST(StoreServer, ASetFollowedByCloseIsCarriedOut) {
  const auto store = StartStore();
  NewClient waiter(*store);
  waiter.Send(testing::Wait({"k"}));
  {
    NewClient client(*store);
    client.Send(testing::Set("k", "v"));
  }
  EXPECT_EQ(waiter.ReceiveNumber<uint8_t>(), 0);
}

TEST(StoreServer, ResetEmptiesTheStoreAndClosesConnections) {
  const auto store = StartStore();
  NewClient client(*store);
  client.Send(testing::Set("k", "v") + testing::Get("k"));
  EXPECT_EQ(client.ReceiveText(), "v");
  store->Reset();
  EXPECT_TRUE(client.IsClosedByPeer());
  NewClient next(*store);
  next.Send(Byte(7));
  EXPECT_EQ(next.ReceiveNumber<int64_t>(), 0);
}

TEST(StoreServer, TheSnapshotNamesWaitersWritersAndPids) {
  const auto store = StartStore();
  NewClient client(*store);
  client.Send(Byte(13) + Number(uint32_t{4711}) + testing::Add("n", 1) + testing::Wait({"a", "b"}) +
              testing::Set("a", "1") + Byte(7));
  EXPECT_EQ(client.ReceiveNumber<uint32_t>(), 4711U);
  EXPECT_EQ(client.ReceiveNumber<int64_t>(), 1);
  EXPECT_EQ(client.ReceiveNumber<int64_t>(), 2);
  const StoreSnapshot snapshot = store->Snapshot();
  ASSERT_EQ(snapshot.clients.size(), 1U);
  EXPECT_EQ(snapshot.clients[0].nonce, 4711U);
  EXPECT_TRUE(snapshot.clients[0].peer.IsLoopback());
  ASSERT_EQ(snapshot.keys.size(), 2U);
  EXPECT_EQ(snapshot.keys[1].writers, std::vector<StoreClientId>{snapshot.clients[0].id});
  ASSERT_EQ(snapshot.waiters.size(), 1U);
  EXPECT_EQ(snapshot.waiters[0].keys, std::vector<std::string>{"b"});
}

TEST(StoreServer, APortInUseNamesItsHolder) {
  const auto store = StartStore();
  StoreOptions options;
  options.port = store->port();
  const auto second = StoreThread::Start(base::SystemClock(), options);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, base::Code::kUnavailable);
  EXPECT_NE(
      second.error().message.find("the port is in use by process " + std::to_string(::getpid())),
      std::string::npos)
      << second.error().message;
}

TEST(StoreServer, APortThatIsNotListenedToIsFreeThoughClientsAreServedOn) {
  const auto store = StartStore();
  NewClient client(*store);
  client.Send(testing::Add("n", 1));
  EXPECT_EQ(client.ReceiveNumber<int64_t>(), 1);
  store->StopListening();
  StoreOptions options;
  options.port = store->port();
  const auto next = StartStore(options);
  NewClient nexts(*next);
  nexts.Send(testing::Add("n", 5));
  EXPECT_EQ(nexts.ReceiveNumber<int64_t>(), 5);
  client.Send(testing::Add("n", 1));
  EXPECT_EQ(client.ReceiveNumber<int64_t>(), 2);
}

}  // namespace
}  // namespace rendezvous
