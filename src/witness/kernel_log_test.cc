#include "witness/kernel_log.h"

#include <gtest/gtest.h>

namespace witness {
namespace {

TEST(KernelLog, IsReadRecordByRecord) {
  const auto records = ReadKernelLog(
      "5,0,0,-;Linux version 6.1\n"
      "3,7,1500000,-,caller=T1;Out of memory: Killed process 42 (python3) total-vm:1kB\n"
      " SUBSYSTEM=memory\n DEVICE=+x\n"
      "no record\n4,8,x,-;neither\n");
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records[1].at, std::chrono::microseconds(1500000));
  EXPECT_EQ(records[1].text, "Out of memory: Killed process 42 (python3) total-vm:1kB");
}

TEST(KernelLog, RecordsThatReportFailures) {
  const std::pair<const char*, KernelTopic> kRecords[] = {
      {"oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,oom_memcg=/a,"
       "task_memcg=/a,task=python3,pid=42,uid=0",
       KernelTopic::kMemory},
      {"Memory cgroup out of memory: Killed process 42 (python3) total-vm:1kB",
       KernelTopic::kMemory},
      {"cgroup: fork rejected by pids controller in /user.slice", KernelTopic::kPrograms},
      {"python3[42]: segfault at 0 ip 00007f sp 00007f error 4 in x.so", KernelTopic::kPrograms},
      {"blk_update_request: I/O error, dev sda, sector 8", KernelTopic::kDisks},
      {"pcieport 0000:3a:00.0: AER: Multiple Uncorrectable (Fatal) error message received from "
       "0000:3b:00.0",
       KernelTopic::kGpus},
      {"NVRM: GPU 0000:3b:00.0: RmInitAdapter failed! (0x26:0x56:1474)", KernelTopic::kGpus},
      {"amdgpu 0000:03:00.0: amdgpu: GPU reset begin!", KernelTopic::kGpus},
      {"NVRM: Xid (PCI:0000:3b:00): 79, pid=42, GPU has fallen off the bus.", KernelTopic::kGpus},
      {"pcieport 0000:00:01.0: AER: Uncorrectable (Fatal) error message received from 0000:3b:00.0",
       KernelTopic::kGpus},
      {"nvidia 0000:3b:00.0: PCIe Bus Error: severity=Uncorrectable (Fatal), type=Transaction "
       "Layer",
       KernelTopic::kGpus},
      {"pcieport 0000:00:01.0: AER: Correctable error message received from 0000:3b:00.0",
       KernelTopic::kNone},
      {"eth0: link becomes ready", KernelTopic::kNone},
  };
  for (const auto& [text, topic] : kRecords) EXPECT_EQ(TopicOf(text), topic) << text;
}

TEST(KernelLog, WhomARecordIsAbout) {
  EXPECT_EQ(PidIn("Memory cgroup out of memory: Killed process 42 (python3) total-vm:1kB"), 42);
  EXPECT_EQ(PidIn("oom-kill:constraint=CONSTRAINT_NONE,task=python3,pid=7,uid=0"), 7);
  EXPECT_EQ(PidIn("NVRM: Xid (PCI:0000:3b:00): 79, pid=9, GPU has fallen off the bus."), 9);
  EXPECT_EQ(PidIn("python3[42]: segfault at 0 ip 00007f"), 42);
  EXPECT_EQ(PidIn("traps: python3[43] trap invalid opcode ip:1 sp:2 error:0 in x.so"), 43);
  EXPECT_FALSE(PidIn("NVRM: Xid (PCI:0000:3b:00): 79, pid='<unknown>', GPU has fallen off"));
  EXPECT_FALSE(PidIn("eth0: link becomes ready"));
}

TEST(KernelLog, RecordsOfOthersAreDistinguished) {
  const std::vector<std::string_view> texts{
      "oom-kill:constraint=CONSTRAINT_MEMCG,task_memcg=/muster/muster-pod-u1/a,task=x,pid=7,uid=0",
      "Memory cgroup out of memory: Killed process 7 (x) total-vm:1kB",
      "Out of memory: Killed process 70 (other) total-vm:1kB",
      "Out of memory: Killed process 31 (worker) total-vm:1kB",
      "python3[42]: segfault at 0 ip 00007f",
      "I/O error, dev sda, sector 8",
      "cgroup: fork rejected by pids controller in /elsewhere",
  };
  const Program program{"u1", 42, "RuntimeError: DataLoader worker (pid 31) is killed by signal"};
  EXPECT_EQ(AreAbout(program, texts),
            std::vector<bool>({true, true, false, true, true, true, false}));
}

TEST(AreAbout, TheNameOfAGpuBelongsToTheXidBehindIt) {
  const Program program{"", 42, ""};
  const std::vector<std::string_view> texts = {
      "NVRM: GPU at PCI:0000:00:06: GPU-7b62bdbe-690f-7766-4ba9-71e6d771dfd3",
      "NVRM: Xid (PCI:0000:00:06): 43, pid=41, name=python3, channel 0x0000000a",
      "NVRM: GPU at PCI:0000:00:07: GPU-8b62bdbe-690f-7766-4ba9-71e6d771dfd3",
      "NVRM: Xid (PCI:0000:00:07): 31, pid=42, name=python3, channel 0x0000000a",
      "NVRM: GPU at PCI:0000:00:08: GPU-9b62bdbe-690f-7766-4ba9-71e6d771dfd3"};
  EXPECT_EQ(AreAbout(program, texts), std::vector<bool>({false, false, true, true, true}));
}

}  // namespace
}  // namespace witness
