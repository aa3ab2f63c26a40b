#include "rendezvous/store/data.h"

#include <gtest/gtest.h>
#include <malloc.h>

namespace rendezvous {
namespace {

using base::Code;

class NoClients : public StoreData::Clients {
 public:
  OutputQueue* OutputOf(StoreClientId) override { return nullptr; }
};

class StoreDataTest : public ::testing::Test {
 protected:
  explicit StoreDataTest(uint64_t max_bytes = 1 << 20) : data_(clients_, max_bytes) {}

  base::Status Apply(StoreRequest request, StoreClientId client = 1) {
    return data_.Apply(client, StoreDialect::kFrom22, request, {}, out_);
  }
  base::Status Set(std::string_view key, std::string_view value) {
    StoreRequest request;
    request.op = StoreOp::kSet;
    request.key = key;
    request.value = value;
    return Apply(request);
  }
  base::Status MultiSet(std::vector<std::string_view> keys, std::vector<std::string_view> values) {
    StoreRequest request;
    request.op = StoreOp::kMultiSet;
    request.keys = std::move(keys);
    request.values = std::move(values);
    return Apply(request);
  }
  base::Status Of(StoreOp op, std::vector<std::string_view> keys, StoreClientId client = 1) {
    StoreRequest request;
    request.op = op;
    if (op == StoreOp::kWatchKey) {
      request.key = keys.front();
    } else {
      request.keys = std::move(keys);
    }
    return Apply(request, client);
  }

  NoClients clients_;
  StoreData data_;
  OutputQueue out_;
};

// Ten bytes of a request ask for thirty thousand bytes of an answer.
TEST_F(StoreDataTest, AValueThatIsAskedForOftenIsNotCopiedOften) {
  const std::string value(30'000, 'v');
  ASSERT_TRUE(Set("k", value));
  const size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
  ASSERT_TRUE(Of(StoreOp::kMultiGet, std::vector<std::string_view>(100'000, "k")));
  EXPECT_EQ(out_.pending(), 100'000 * (8 + value.size()));
  EXPECT_LT(mallinfo2().uordblks + mallinfo2().hblkhd, before + (32U << 20));
  ASSERT_TRUE(Set("k", "other"));
  EXPECT_EQ(data_.Keys().front().value, "other");
}

TEST_F(StoreDataTest, AMultiSetThatDoesNotFitChangesNothing) {
  ASSERT_TRUE(Set("a", "old"));
  const std::string half(600 << 10, 'x');
  EXPECT_EQ(MultiSet({"a", "b", "c"}, {"new", half, half}).error().code, Code::kExhausted);
  EXPECT_EQ(data_.key_count(), 1U);
  EXPECT_EQ(data_.Keys().front().value, "old");
  // Only the final state counts.
  ASSERT_TRUE(MultiSet({"b", "b"}, {half, half}));
  ASSERT_TRUE(MultiSet({"c", "b"}, {half, "small"}));
  EXPECT_EQ(data_.bytes(), 4 + 1 + half.size() + 1 + 5);
}

TEST_F(StoreDataTest, WaitsAndWatchesCountAgainstTheStoresMemory) {
  const std::string long_key(300 << 10, 'k');
  ASSERT_TRUE(Of(StoreOp::kWait, {long_key}, 1));
  EXPECT_EQ(Of(StoreOp::kWait, {long_key + "2"}, 2).error().code, Code::kExhausted);
  ASSERT_TRUE(Of(StoreOp::kWatchKey, {long_key}, 2));
  EXPECT_EQ(Of(StoreOp::kWatchKey, {long_key + "2"}, 3).error().code, Code::kExhausted);
  EXPECT_FALSE(Set("value", std::string(300 << 10, 'v')));
  // A client that leaves gives its memory back; so does a wait that ends.
  data_.Forget(2);
  ASSERT_TRUE(Set("value", std::string(300 << 10, 'v')));
  data_.Forget(1);
  ASSERT_TRUE(Set("value", ""));
  ASSERT_TRUE(Of(StoreOp::kWait, {long_key}, 1));
  ASSERT_TRUE(Set(long_key, ""));
  EXPECT_EQ(data_.bytes(), long_key.size() + 5);
}

TEST_F(StoreDataTest, AKeyThatIsWatchedTwiceCountsOnce) {
  ASSERT_TRUE(Of(StoreOp::kWatchKey, {"k"}));
  const uint64_t once = data_.bytes();
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(Of(StoreOp::kWatchKey, {"k"}));
  EXPECT_EQ(data_.bytes(), once);
  data_.Forget(1);
  EXPECT_EQ(data_.bytes(), 0U);
}

}  // namespace
}  // namespace rendezvous
