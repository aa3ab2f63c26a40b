#include "arena/logs/event_tail.h"

#include <gtest/gtest.h>

#include <cstring>

namespace arena {
namespace {

// A TFRecord with the scalar `loss`.
std::string Event(int64_t step, float loss) {
  std::string value("\x0a\x04loss\x15");
  value.append(reinterpret_cast<const char*>(&loss), sizeof loss);
  const std::string summary = std::string("\x0a") + static_cast<char>(value.size()) + value;
  const double time = 1'795'000'000;
  std::string data("\x09");
  data.append(reinterpret_cast<const char*>(&time), sizeof time);
  data += std::string("\x10") + static_cast<char>(step) + "\x2a" +
          static_cast<char>(summary.size()) + summary;
  const auto number = [](auto value_of) {
    std::string bytes(sizeof value_of, '\0');
    std::memcpy(bytes.data(), &value_of, sizeof value_of);
    return bytes;
  };
  const std::string length = number(static_cast<uint64_t>(data.size()));
  return length + number(runs::MaskedCrc32c(length)) + data + number(runs::MaskedCrc32c(data));
}

std::string Piece(uint64_t offset, const std::string& bytes, const std::string& path) {
  return std::to_string(offset) + " " + std::to_string(bytes.size()) + " " + path + "\n" + bytes;
}

std::optional<int64_t> LastStep(const EventTail& tail) {
  const auto latest = tail.history().Latest();
  return latest.empty() ? std::nullopt : latest.front().progress.step;
}

TEST(EventTail, GoesOnWhereItWasAlsoInTheMiddleOfARecord) {
  EventTail tail;
  const std::string first = Event(3, 0.5F), second = Event(4, 0.25F);
  EXPECT_EQ(tail.Take(Piece(0, first + second.substr(0, 9), "./a b")), first.size() + 9);
  EXPECT_EQ(LastStep(tail), 3);
  EXPECT_EQ(tail.Known(), std::to_string(first.size() + 9) + " ./a b\n\n");
  tail.Take(Piece(first.size() + 9, second.substr(9), "./a b"));
  EXPECT_EQ(LastStep(tail), 4);
}

TEST(EventTail, WhatWasLoggedBeforeTheJobIsNotItsOwn) {
  EventTail tail;
  tail.Since(1'795'000'000'001);
  EXPECT_GT(tail.Take(Piece(0, Event(9, 0.5F), "./a")), 0U);
  EXPECT_EQ(LastStep(tail), std::nullopt);
  tail.Since(1'795'000'000'000);
  tail.Take(Piece(0, Event(9, 0.5F), "./b"));
  EXPECT_EQ(LastStep(tail), 9);
}

TEST(EventTail, AFileThatWasRewrittenBeginsAnew) {
  EventTail tail;
  tail.Take(Piece(0, Event(9, 0.5F) + Event(10, 0.5F), "./a"));
  tail.Take(Piece(0, Event(1, 0.5F), "./a"));
  EXPECT_EQ(LastStep(tail), 1);
}

TEST(EventTail, WhatIsCutOrMalformedIsLeftForTheNextLook) {
  EventTail tail;
  const std::string event = Event(3, 0.5F);
  EXPECT_EQ(tail.Take("sh: find: not found\n"), 0u);
  EXPECT_EQ(tail.Take("-1 5 ./a\nhello"), 0u);
  EXPECT_EQ(tail.Take(Piece(700, event, "./unknown")), 0u) << "it does not go on from there";
  const std::string piece = Piece(0, event, "./a");
  EXPECT_EQ(tail.Take(piece.substr(0, piece.size() - 4)), event.size() - 4);
  EXPECT_FALSE(LastStep(tail));
  tail.Take(Piece(event.size() - 4, event.substr(event.size() - 4), "./a"));
  EXPECT_EQ(LastStep(tail), 3);
}

TEST(LogdirOf, IsWhatThePodSays) {
  const auto of = [](const std::string& container) {
    return LogdirOf(*text::ParseJson(
        R"({"spec": {"containers": [{"name": "side"}, {"name": "pytorch", )" + container + "}]}}"));
  };
  EXPECT_EQ(of(R"("volumeMounts": [{"name": "training-logs-volume", "mountPath": "/t"}])"), "/t");
  EXPECT_EQ(of(R"("env": [{"name": "MUSTER_RUN_DIR", "value": "/r/files"}])"), "/r/files");
  EXPECT_EQ(of(R"("command": ["sh", "-c", "python t.py --logdir /l --lr 1"])"), "/l");
  EXPECT_EQ(of(R"("args": ["t.py", "--logging_dir=/l"])"), "/l");
  EXPECT_EQ(of(R"("args": ["t.py", "--logdir", "runs"])"), "") << "below what folder?";
  EXPECT_EQ(of(R"("args": ["t.py"])"), "");
}

}  // namespace
}  // namespace arena
