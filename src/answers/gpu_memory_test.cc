#include "answers/gpu_memory.h"

#include <gtest/gtest.h>

#include <string>

namespace answers {
namespace {

std::string Message(const std::string& asked, const std::string& free, const std::string& rest) {
  return "CUDA out of memory. Tried to allocate " + asked +
         ". GPU 0 has a total capacity of 139.80 GiB of which " + free + " is free. " + rest;
}

TEST(GpuMemory, OthersHoldMoreThanThisProcess) {
  const std::string rest =
      "Process 7 has 120.00 GiB memory in use. Including non-PyTorch memory, this process has 2.34 "
      "GiB memory in use. ";
  EXPECT_EQ(HolderIn(Message("20.00 GiB", "17.46 GiB", rest)), GpuHolder::kOthers);
  EXPECT_EQ(HolderIn(Message("138.00 GiB", "17.46 GiB", rest)), GpuHolder::kOwn)
      << "it would not fit on an empty GPU either";
}

TEST(GpuMemory, AMessageThatWasCutNamesNoOthers) {
  const std::string one = "Process 991231 has 71.67 GiB memory in use.";
  EXPECT_EQ(HolderIn(Message("11.60 GiB", "7.42 GiB", one)), GpuHolder::kOwn);
  EXPECT_EQ(HolderIn(Message("1.00 GiB", "0.42 GiB",
                             one + " Of the allocated memory 1.00 GiB is allocated by PyTorch")),
            GpuHolder::kOthers);
}

TEST(GpuMemory, WhatAProcessMayUseIsItsOwnLimit) {
  const std::string rest =
      "Process 7 has 5.50 GiB memory in use. Including non-PyTorch memory, this process has 4.60 "
      "GiB memory in use. ";
  EXPECT_EQ(HolderIn(Message("64.00 MiB", "130.00 GiB", "4.19 GiB allowed; " + rest)),
            GpuHolder::kOwn);
  EXPECT_EQ(HolderIn(Message("64.00 MiB", "10.00 MiB", rest + "4.19 GiB allowed; ")),
            GpuHolder::kOwn);
  EXPECT_EQ(HolderIn(Message("64.00 MiB", "10.00 MiB", rest + "80.00 GiB allowed; ")),
            GpuHolder::kOthers);
}

TEST(GpuMemory, OldMessagesNameNoOthers) {
  const auto message = [](const std::string& asked) {
    return "CUDA out of memory. Tried to allocate " + asked +
           " (GPU 0; 7.79 GiB total capacity; 1.00 GiB already allocated; 10.00 MiB free; 1.10 GiB "
           "reserved in total by PyTorch)";
  };
  EXPECT_EQ(HolderIn(message("20.00 MiB")), GpuHolder::kOthers);
  EXPECT_EQ(HolderIn(message("7.00 GiB")), GpuHolder::kOwn);
}

TEST(GpuMemory, ProcessesThatWereStartedTogetherAreOneJobs) {
  const auto message = [](const std::string& other) {
    return Message("20.00 MiB", "19.56 MiB",
                   "Process 2213429 has 35.49 GiB memory in use. Process " + other +
                       " has 50.67 GiB memory in use. Process 2213428 has 38.91 GiB memory in use. "
                       "Of the allocated memory 38.42 GiB is allocated by PyTorch");
  };
  EXPECT_EQ(HolderIn(message("2213427")), GpuHolder::kJob);
  EXPECT_EQ(HolderIn(message("813427")), GpuHolder::kOthers);
}

}  // namespace
}  // namespace answers
