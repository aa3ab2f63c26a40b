// A stand-in for the driver's libnvidia-ml.so. MUSTER_FAKE_NVML says what machine it shows:
//
//   <n>        n GPUs, none of them divided
//   mig        two GPUs, the second divided into two MIG instances
//   mig-empty  one GPU with MIG enabled and no instance
//   lost       three GPUs, the second of which does not answer
//   worn       two GPUs: the first has no spare rows left and is hot, the second waits for its
//   reset old        one GPU of the time before rows were remapped, which waits to retire a page
//   mismatch   the driver was updated and not reloaded: initialisation fails
//   unset      as 0
//
// The file that MUSTER_FAKE_NVML_ERRORS names has the first GPU's count of uncorrected errors.
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

constexpr int kSuccess = 0;
constexpr int kInvalidArgument = 2;
constexpr int kNotSupported = 3;
constexpr int kNotFound = 6;
constexpr int kGpuIsLost = 15;
constexpr int kVersionMismatch = 18;

struct Memory {
  unsigned long long total, free, used;
};
struct Utilization {
  unsigned gpu, memory;
};

// A device handle is 1 + index; a MIG instance's 1000 * (1 + device) + 1 + instance.
using Device = void*;
Device HandleOf(unsigned long value) { return reinterpret_cast<Device>(value); }
unsigned long ValueOf(Device device) { return reinterpret_cast<unsigned long>(device); }

const char* Mode() {
  const char* mode = std::getenv("MUSTER_FAKE_NVML");
  return mode == nullptr ? "0" : mode;
}
bool Is(const char* mode) { return std::strcmp(Mode(), mode) == 0; }

unsigned Count() {
  if (Is("mig") || Is("worn")) return 2;
  if (Is("mig-empty") || Is("old")) return 1;
  if (Is("lost")) return 3;
  return static_cast<unsigned>(std::atoi(Mode()));
}

bool HasMig(unsigned long device) { return (Is("mig") && device == 2) || Is("mig-empty"); }

}  // namespace

extern "C" {

int nvmlInit_v2() { return Is("mismatch") ? kVersionMismatch : kSuccess; }
int nvmlShutdown() { return kSuccess; }

const char* nvmlErrorString(int code) {
  switch (code) {
    case kSuccess:
      return "Success";
    case kGpuIsLost:
      return "GPU is lost";
    case kVersionMismatch:
      return "Driver/library version mismatch";
    default:
      return "Unknown Error";
  }
}

int nvmlSystemGetDriverVersion(char* version, unsigned length) {
  std::snprintf(version, length, "570.00.01");
  return kSuccess;
}

int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = Count();
  return kSuccess;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, Device* device) {
  if (index >= Count()) return kInvalidArgument;
  if (Is("lost") && index == 1) return kGpuIsLost;
  *device = HandleOf(1 + index);
  return kSuccess;
}

int nvmlDeviceGetUUID(Device device, char* uuid, unsigned length) {
  const unsigned long value = ValueOf(device);
  const char* const serial = std::getenv("MUSTER_FAKE_NVML_SERIAL");
  std::snprintf(uuid, length, "%s-%.8s-fake-%04lu", value >= 1000 ? "MIG" : "GPU",
                serial == nullptr ? "00000000" : serial, value);
  return kSuccess;
}

int nvmlDeviceGetName(Device device, char* name, unsigned length) {
  std::snprintf(name, length, "%s",
                ValueOf(device) >= 1000 ? "NVIDIA Fake MIG 3g.40gb" : "NVIDIA Fake 80GB");
  return kSuccess;
}

int nvmlDeviceGetMemoryInfo(Device device, Memory* memory) {
  memory->total = (ValueOf(device) >= 1000 ? 40ULL : 80ULL) << 30;
  memory->used = 1ULL << 30;
  memory->free = memory->total - memory->used;
  return kSuccess;
}

int nvmlDeviceGetUtilizationRates(Device device, Utilization* utilization) {
  if (HasMig(ValueOf(device))) return kNotSupported;
  utilization->gpu = 42;
  utilization->memory = 7;
  return kSuccess;
}

int nvmlDeviceGetMigMode(Device device, unsigned* current, unsigned* pending) {
  if (!Is("mig") && !Is("mig-empty")) return kNotSupported;
  *current = *pending = HasMig(ValueOf(device)) ? 1 : 0;
  return kSuccess;
}

int nvmlDeviceGetMaxMigDeviceCount(Device device, unsigned* count) {
  *count = HasMig(ValueOf(device)) ? 7 : 0;
  return kSuccess;
}

int nvmlDeviceGetMigDeviceHandleByIndex(Device device, unsigned index, Device* mig) {
  // With a hole between the two, as after an instance was destroyed.
  if (!Is("mig") || !HasMig(ValueOf(device)) || (index != 0 && index != 2)) return kNotFound;
  *mig = HandleOf(1000 * ValueOf(device) + 1 + index);
  return kSuccess;
}

int nvmlDeviceGetTotalEccErrors(Device device, int, int counter, unsigned long long* count) {
  const char* const path = std::getenv("MUSTER_FAKE_NVML_ERRORS");
  if (path == nullptr || ValueOf(device) != 1) return kNotSupported;
  *count = counter == 1 ? 100 : 0;
  if (FILE* const file = std::fopen(path, "r")) {
    unsigned long long more = 0;
    if (std::fscanf(file, "%llu", &more) == 1) *count += more;
    std::fclose(file);
  }
  return kSuccess;
}

int nvmlDeviceGetRemappedRows(Device device, unsigned* corrected, unsigned* uncorrected,
                              unsigned* is_pending, unsigned* has_failed) {
  if (Is("old")) return kNotSupported;
  *corrected = 0;
  *uncorrected = Is("worn") ? 1 : 0;
  *is_pending = Is("worn") && ValueOf(device) == 2 ? 1 : 0;
  *has_failed = Is("worn") && ValueOf(device) == 1 ? 1 : 0;
  return kSuccess;
}

int nvmlDeviceGetRetiredPagesPendingStatus(Device, int* is_pending) {
  if (!Is("old")) return kNotSupported;
  *is_pending = 1;
  return kSuccess;
}

int nvmlDeviceGetCurrentClocksThrottleReasons(Device device, unsigned long long* reasons) {
  *reasons = 0x1 | 0x4 | (Is("worn") && ValueOf(device) == 1 ? 0x8 | 0x40 : 0);
  return kSuccess;
}

}  // extern "C"
