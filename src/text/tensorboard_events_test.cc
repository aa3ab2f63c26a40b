#include "text/tensorboard_events.h"

#include <gtest/gtest.h>

#include <cstring>

namespace text {
namespace {

template <typename T>
std::string Bytes(T value) {
  std::string bytes(sizeof(T), '\0');
  std::memcpy(bytes.data(), &value, sizeof(T));
  return bytes;
}

std::string Field(int number, const std::string& content) {
  return std::string(1, static_cast<char>(number << 3 | 2)) +
         std::string(1, static_cast<char>(content.size())) + content;
}

std::string Simple(const std::string& tag, float value) {
  return Field(1, tag) + std::string(1, 2 << 3 | 5) + Bytes(value);
}

std::string Record(const std::string& value) {
  // wall_time, step, summary
  const std::string event = std::string(1, 1 << 3 | 1) + Bytes(1.0) + std::string("\x10\x07", 2) +
                            Field(5, Field(1, value));
  return Bytes(static_cast<uint64_t>(event.size())) + "crc!" + event + "crc!";
}

TEST(LastScalars, AreTheNewestOfEachTag) {
  const std::string file = Record(Simple("loss/train", 0.5F)) + Record(Simple("acc", 0.25F)) +
                           Record(Simple("loss/train", 0.125F));
  EXPECT_EQ(LastScalars(file),
            (std::map<std::string, double>{{"acc", 0.25}, {"loss/train", 0.125}}));
}

TEST(LastScalars, OfTensorsToo) {
  const std::string type_float = {1 << 3, 1};
  const std::string type_double = {1 << 3, 2};
  const std::string file =
      Record(Field(1, "a") + Field(8, type_float + Field(5, Bytes(0.5F)))) +
      Record(Field(1, "b") + Field(8, type_double + Field(4, Bytes(0.25)))) +
      Record(Field(1, "text") + Field(8, type_float + Field(4, "not a number at all")));
  EXPECT_EQ(LastScalars(file), (std::map<std::string, double>{{"a", 0.5}, {"b", 0.25}}));
}

TEST(LastScalars, EndWhereTheFileIsCutOrIsNone) {
  const std::string whole = Record(Simple("a", 1)) + Record(Simple("a", 2));
  for (size_t size = 0; size <= whole.size(); ++size) {
    const auto scalars = LastScalars(std::string_view(whole).substr(0, size));
    const double last = size == whole.size() ? 2 : 1;
    EXPECT_EQ(scalars, size < whole.size() / 2 ? (std::map<std::string, double>{})
                                               : (std::map<std::string, double>{{"a", last}}));
  }
  EXPECT_TRUE(LastScalars(std::string(100, '\xff')).empty());
  EXPECT_TRUE(LastScalars("an event file this is not, however long it goes on").empty());
}

}  // namespace
}  // namespace text
