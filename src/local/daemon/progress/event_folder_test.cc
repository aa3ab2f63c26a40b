#include "local/daemon/progress/event_folder.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/file.h"

namespace local::daemon {
namespace {

template <typename T>
std::string Bytes(T value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

// An event of that step with a loss.
std::string Record(char step, float loss) {
  const std::string value = std::string("\x0a\x04loss\x15") + Bytes(loss);
  const std::string summary = "\x0a" + std::string(1, static_cast<char>(value.size())) + value;
  const std::string data = "\x09" + Bytes(1.5) + "\x10" + step + "\x2a" +
                           std::string(1, static_cast<char>(summary.size())) + summary;
  const std::string length = Bytes<uint64_t>(data.size());
  return length + Bytes(runs::MaskedCrc32c(length)) + data + Bytes(runs::MaskedCrc32c(data));
}

class EventFolderTest : public testing::Test {
 protected:
  EventFolderTest() {
    char folder[] = "/tmp/muster-events-XXXXXX";
    folder_ = ::mkdtemp(folder);
    std::filesystem::create_directories(folder_ + "/runs/first");
  }
  ~EventFolderTest() override { static_cast<void>(base::RemoveTree(folder_)); }

  void Write(const std::string& text, std::ios::openmode mode = std::ios::app) {
    std::ofstream(folder_ + "/runs/first/events.out.tfevents.1.host", std::ios::binary | mode)
        << text;
  }
  // The steps of the events that a look finds.
  static std::vector<int64_t> Look(EventFolder& events) {
    std::vector<int64_t> steps;
    events.Look([&steps](const std::string& file, const runs::ScalarEvent& event) {
      EXPECT_EQ(file, "runs/first/events.out.tfevents.1.host");
      EXPECT_EQ(event.scalars.at(0).first, "loss");
      steps.push_back(event.step);
    });
    return steps;
  }

  std::string folder_;
};

TEST_F(EventFolderTest, ReadsOnWhereTheLastLookEnded) {
  EventFolder events(folder_);
  EXPECT_TRUE(Look(events).empty());
  Write(Record(1, 0.5F) + Record(2, 0.4F).substr(0, 9));
  EXPECT_EQ(Look(events), std::vector<int64_t>{1});
  Write(Record(2, 0.4F).substr(9) + Record(3, 0.3F));
  EXPECT_EQ(Look(events), (std::vector<int64_t>{2, 3}));
  EXPECT_TRUE(Look(events).empty());
}

TEST_F(EventFolderTest, AFileThatIsRewrittenIsReadAnewAndADamagedOneNoFurther) {
  EventFolder events(folder_);
  Write(Record(1, 0.5F) + Record(2, 0.4F));
  EXPECT_EQ(Look(events).size(), 2u);
  Write(Record(7, 0.5F), std::ios::trunc);
  EXPECT_EQ(Look(events), std::vector<int64_t>{7});
  Write("no record at all, and longer than a head" + Record(8, 0.5F));
  EXPECT_TRUE(Look(events).empty());
  Write(Record(9, 0.5F));
  EXPECT_TRUE(Look(events).empty());
}

TEST_F(EventFolderTest, LinksAndOtherFilesAreLeftAlone) {
  Write(Record(1, 0.5F));
  std::filesystem::create_symlink(folder_ + "/runs", folder_ + "/link");
  std::filesystem::create_symlink("/dev/zero", folder_ + "/events.out.tfevents.2.host");
  std::ofstream(folder_ + "/notes.txt") << Record(5, 0.5F);
  EventFolder events(folder_);
  EXPECT_EQ(Look(events), std::vector<int64_t>{1});
}

}  // namespace
}  // namespace local::daemon
