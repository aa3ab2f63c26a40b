#include "runs/progress/event.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "runs/progress/tfrecord.h"

namespace runs {
namespace {

template <typename T>
std::string Bytes(T value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

std::string Field(int number, std::string_view bytes) {
  return std::string(1, static_cast<char>(number << 3 | 2)) + static_cast<char>(bytes.size()) +
         std::string(bytes);
}

std::string Event(double time, char step, const std::string& values) {
  return "\x09" + Bytes(time) + "\x10" + step + Field(5, values);
}

std::string Simple(const std::string& tag, float value) {
  return Field(1, Field(1, tag) + "\x15" + Bytes(value));
}

std::string Record(const std::string& data) {
  const std::string length = Bytes<uint64_t>(data.size());
  return length + Bytes(MaskedCrc32c(length)) + data + Bytes(MaskedCrc32c(data));
}

TEST(MaskedCrc32c, IsThatOfTensorFlow) {
  // "123456789" has the CRC32C 0xe3069283.
  EXPECT_EQ(MaskedCrc32c("123456789"), ((0xe3069283U >> 15) | (0xe3069283U << 17)) + 0xa282ead8U);
}

TEST(ReadEvent, ReadsScalarsOfEveryKind) {
  // As torch.utils.tensorboard writes them, and as TensorFlow 2 does, in tensors.
  const std::string tensor = "\x08\x01" + Field(5, Bytes(0.25F));
  const std::string content = "\x08\x01" + Field(4, Bytes(0.75F));
  const auto event = ReadEvent(Event(1.5, 7,
                                     Simple("loss", 0.5F) + Simple("nan", std::nanf("")) +
                                         Field(1, Field(1, "t") + Field(8, tensor)) +
                                         Field(1, Field(1, "c") + Field(8, content))));
  ASSERT_TRUE(event);
  EXPECT_EQ(event->at, 1500);
  EXPECT_EQ(event->step, 7);
  ASSERT_EQ(event->scalars.size(), 4u);
  EXPECT_EQ(event->scalars[0], (std::pair<std::string, double>("loss", 0.5)));
  EXPECT_TRUE(std::isnan(event->scalars[1].second));
  EXPECT_EQ(event->scalars[2].second, 0.25);
  EXPECT_EQ(event->scalars[3].second, 0.75);
}

TEST(ReadEvent, WhatHasNoScalarIsNone) {
  EXPECT_FALSE(ReadEvent(""));
  EXPECT_FALSE(ReadEvent("\x09" + Bytes(1.0) + Field(3, "brain.Event:2")));
  EXPECT_FALSE(ReadEvent(Event(1, 1, Field(1, Field(1, "an image") + Field(4, "png")))));
  EXPECT_FALSE(ReadEvent("\xff\xff\xff"));
  EXPECT_FALSE(ReadEvent(Event(1, 1, Simple("loss", 1)).substr(0, 12)));
}

TEST(RecordReader, GivesWholeRecordsOfAFileThatGrows) {
  const std::string file = Record("one") + Record("") + Record("three");
  for (const size_t piece : {1, 5, 100}) {
    RecordReader reader;
    std::vector<std::string> seen;
    for (size_t at = 0; at < file.size(); at += piece) {
      EXPECT_TRUE(reader.Feed(std::string_view(file).substr(at, piece),
                              [&seen](std::string_view record) { seen.emplace_back(record); }));
    }
    EXPECT_EQ(seen, (std::vector<std::string>{"one", "", "three"}));
    EXPECT_EQ(reader.pending(), 0u);
  }
}

TEST(RecordReader, StopsWhereAFileIsDamaged) {
  for (const size_t at : {0, 9, 13, 16}) {
    std::string file = Record("one") + Record("two");
    file[at + Record("one").size()] ^= 1;
    RecordReader reader;
    int seen = 0;
    EXPECT_FALSE(reader.Feed(file, [&seen](std::string_view) { ++seen; })) << at;
    EXPECT_EQ(seen, 1);
    EXPECT_FALSE(reader.Feed(Record("three"), [&seen](std::string_view) { ++seen; }));
    EXPECT_EQ(seen, 1);
  }
}

TEST(RecordReader, ARecordThatIsCutOffWaits) {
  RecordReader reader;
  const std::string file = Record("one");
  EXPECT_TRUE(reader.Feed(std::string_view(file).substr(0, file.size() - 1),
                          [](std::string_view) { FAIL(); }));
  EXPECT_EQ(reader.pending(), file.size() - 1);
}

}  // namespace
}  // namespace runs
