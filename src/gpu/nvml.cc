// NVIDIA's management library, loaded at run time: muster neither needs it nor links it. The few
// prototypes are declared here as its ABI has them (nvml.h of the driver, stable since R418).
#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <memory>
#include <utility>

#include "base/result.h"
#include "gpu/vendor.h"

namespace gpu {
namespace {

constexpr int kSuccess = 0;
constexpr unsigned kMigEnabled = 1;
constexpr size_t kUuidBytes = 96;  // NVML_DEVICE_UUID_V2_BUFFER_SIZE
constexpr size_t kNameBytes = 96;  // NVML_DEVICE_NAME_V2_BUFFER_SIZE
constexpr size_t kVersionBytes = 80;
constexpr unsigned kMaxDevices = 256;
constexpr int kUncorrected = 1;  // nvmlMemoryErrorType_t
constexpr int kVolatile = 0;     // nvmlEccCounterType_t
constexpr int kAggregate = 1;

// The reasons of nvmlClocksEventReasons that no program asks for.
constexpr auto kSlowdowns = std::to_array<std::pair<unsigned long long, std::string_view>>(
    {{0x08, "hardware slowdown"},
     {0x20, "thermal slowdown by software"},
     {0x40, "thermal slowdown by hardware"},
     {0x80, "power brake"}});

template <typename F>
bool Load(void* library, const char* name, F*& function) {
  function = reinterpret_cast<F*>(::dlsym(library, name));
  return function != nullptr;
}

void* OpenLibrary(const std::string& directory) {
  for (const char* name : {"libnvidia-ml.so.1", "libnvidia-ml.so"}) {
    const std::string path = directory.empty() ? name : directory + "/" + name;
    if (void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
  }
  return nullptr;
}

// One initialised library. One thread at a time.
class Nvml {
 public:
  // `directory` holds the library; "" is the loader's search path. kNotFound: there is no library,
  // so no driver is installed; kUnavailable: the driver does not answer, with its own words. May
  // take seconds while a driver wakes its GPUs.
  static base::Result<std::unique_ptr<Nvml>> Open(const std::string& directory);
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  // GPUs that do not answer are left out, and named in `reason`.
  base::Result<Inventory> Read();

 private:
  struct Functions;
  Nvml(void* library, std::unique_ptr<Functions> functions);

  base::Result<Device> ReadDevice(unsigned index);
  std::vector<MigInstance> ReadMigInstances(void* device);
  Health ReadHealth(void* device);
  std::string Words(int code) const;

  void* library_;
  std::unique_ptr<Functions> functions_;
};

struct Nvml::Functions {
  using Handle = void*;
  struct Memory {  // nvmlMemory_t
    unsigned long long total = 0;
    unsigned long long free = 0;
    unsigned long long used = 0;
  };

  struct Utilization {  // nvmlUtilization_t
    unsigned gpu = 0;
    unsigned memory = 0;
  };

  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  const char* (*error_string)(int) = nullptr;
  int (*device_count)(unsigned*) = nullptr;
  int (*device_by_index)(unsigned, Handle*) = nullptr;
  int (*device_uuid)(Handle, char*, unsigned) = nullptr;
  int (*device_name)(Handle, char*, unsigned) = nullptr;
  int (*device_memory)(Handle, Memory*) = nullptr;
  // Older drivers lack these: nullptr then.
  int (*device_utilization)(Handle, Utilization*) = nullptr;
  int (*mig_mode)(Handle, unsigned*, unsigned*) = nullptr;
  int (*max_mig_devices)(Handle, unsigned*) = nullptr;
  int (*mig_device_by_index)(Handle, unsigned, Handle*) = nullptr;
  int (*driver_version)(char*, unsigned) = nullptr;
  int (*ecc_errors)(Handle, int type, int counter, unsigned long long*) = nullptr;
  int (*remapped_rows)(Handle, unsigned* corrected, unsigned* uncorrected, unsigned* is_pending,
                       unsigned* has_failed) = nullptr;
  int (*retirement_pending)(Handle, int*) = nullptr;
  int (*clock_reasons)(Handle, unsigned long long*) = nullptr;

  bool LoadFrom(void* library) {
    Load(library, "nvmlDeviceGetUtilizationRates", device_utilization);
    Load(library, "nvmlDeviceGetMigMode", mig_mode);
    Load(library, "nvmlDeviceGetMaxMigDeviceCount", max_mig_devices);
    Load(library, "nvmlDeviceGetMigDeviceHandleByIndex", mig_device_by_index);
    Load(library, "nvmlSystemGetDriverVersion", driver_version);
    Load(library, "nvmlDeviceGetTotalEccErrors", ecc_errors);
    Load(library, "nvmlDeviceGetRemappedRows", remapped_rows);
    Load(library, "nvmlDeviceGetRetiredPagesPendingStatus", retirement_pending);
    // R535 gave it another name.
    if (!Load(library, "nvmlDeviceGetCurrentClocksEventReasons", clock_reasons)) {
      Load(library, "nvmlDeviceGetCurrentClocksThrottleReasons", clock_reasons);
    }
    return Load(library, "nvmlInit_v2", init) && Load(library, "nvmlShutdown", shutdown) &&
           Load(library, "nvmlErrorString", error_string) &&
           Load(library, "nvmlDeviceGetCount_v2", device_count) &&
           Load(library, "nvmlDeviceGetHandleByIndex_v2", device_by_index) &&
           Load(library, "nvmlDeviceGetUUID", device_uuid) &&
           Load(library, "nvmlDeviceGetName", device_name) &&
           Load(library, "nvmlDeviceGetMemoryInfo", device_memory);
  }
};

Nvml::Nvml(void* library, std::unique_ptr<Functions> functions)
    : library_(library), functions_(std::move(functions)) {}

Nvml::~Nvml() {
  functions_->shutdown();
  ::dlclose(library_);
}

base::Result<std::unique_ptr<Nvml>> Nvml::Open(const std::string& directory) {
  void* library = OpenLibrary(directory);
  if (library == nullptr) {
    return base::Fail(base::Code::kNotFound, "no NVIDIA driver is installed");
  }
  auto functions = std::make_unique<Functions>();
  if (!functions->LoadFrom(library)) {
    ::dlclose(library);
    return base::Fail(base::Code::kUnavailable, "the NVIDIA driver is too old");
  }
  if (const int code = functions->init(); code != kSuccess) {
    std::string words = functions->error_string(code);
    ::dlclose(library);
    return base::Fail(base::Code::kUnavailable, "NVML: " + words);
  }
  return std::unique_ptr<Nvml>(new Nvml(library, std::move(functions)));
}

std::string Nvml::Words(int code) const { return functions_->error_string(code); }

base::Result<Inventory> Nvml::Read() {
  unsigned count = 0;
  if (const int code = functions_->device_count(&count); code != kSuccess) {
    return base::Fail(base::Code::kUnavailable, "NVML: count the GPUs: " + Words(code));
  }
  Inventory inventory;
  std::array<char, kVersionBytes> version{};
  if (functions_->driver_version != nullptr &&
      functions_->driver_version(version.data(), kVersionBytes) == kSuccess) {
    inventory.driver_version = version.data();
  }
  for (unsigned index = 0; index < count && index < kMaxDevices; ++index) {
    if (auto device = ReadDevice(index)) {
      inventory.devices.push_back(std::move(*device));
    } else if (inventory.reason.empty()) {
      inventory.reason = device.error().message;
    }
  }
  if (count == 0) inventory.reason = "the NVIDIA driver sees no GPU";
  return inventory;
}

base::Result<Device> Nvml::ReadDevice(unsigned index) {
  void* handle = nullptr;
  std::array<char, kUuidBytes> uuid{};
  std::array<char, kNameBytes> name{};
  Functions::Memory memory;
  int code = functions_->device_by_index(index, &handle);
  if (code == kSuccess) code = functions_->device_uuid(handle, uuid.data(), kUuidBytes);
  if (code == kSuccess) code = functions_->device_name(handle, name.data(), kNameBytes);
  if (code != kSuccess) {
    return base::Fail(base::Code::kUnavailable, fmt::format("GPU {}: {}", index, Words(code)));
  }
  Device device;
  device.index = static_cast<int>(index);
  device.uuid = uuid.data();
  device.name = name.data();
  if (functions_->device_memory(handle, &memory) == kSuccess) {
    device.memory_total = static_cast<int64_t>(memory.total);
    device.memory_used = static_cast<int64_t>(memory.used);
  }
  Functions::Utilization utilization;
  if (functions_->device_utilization != nullptr &&
      functions_->device_utilization(handle, &utilization) == kSuccess) {
    device.utilisation_percent = static_cast<int>(utilization.gpu);
  }
  device.health = ReadHealth(handle);
  unsigned current = 0, pending = 0;
  if (functions_->mig_mode != nullptr &&
      functions_->mig_mode(handle, &current, &pending) == kSuccess && current == kMigEnabled) {
    device.is_mig_enabled = true;
    device.mig_instances = ReadMigInstances(handle);
  }
  return device;
}

// GPUs before Ampere retire pages, later ones remap rows; those without ECC do neither.
Health Nvml::ReadHealth(void* device) {
  Health health{};
  const auto errors = [&](int counter) -> std::optional<int64_t> {
    unsigned long long count = 0;
    if (functions_->ecc_errors == nullptr ||
        functions_->ecc_errors(device, kUncorrected, counter, &count) != kSuccess) {
      return std::nullopt;
    }
    return static_cast<int64_t>(count);
  };
  health.uncorrected = errors(kVolatile);
  health.uncorrected_in_life = errors(kAggregate);
  unsigned corrected = 0, uncorrected = 0, is_pending = 0, has_failed = 0;
  if (functions_->remapped_rows != nullptr &&
      functions_->remapped_rows(device, &corrected, &uncorrected, &is_pending, &has_failed) ==
          kSuccess) {
    health.is_remap_pending = is_pending != 0;
    health.has_remap_failed = has_failed != 0;
  }
  int is_retired = 0;
  if (functions_->retirement_pending != nullptr &&
      functions_->retirement_pending(device, &is_retired) == kSuccess && is_retired != 0) {
    health.is_remap_pending = true;
  }
  unsigned long long reasons = 0;
  if (functions_->clock_reasons != nullptr &&
      functions_->clock_reasons(device, &reasons) == kSuccess) {
    for (const auto& [bit, name] : kSlowdowns) {
      if ((reasons & bit) != 0) health.slowdowns.push_back(name);
    }
  }
  return health;
}

std::vector<MigInstance> Nvml::ReadMigInstances(void* device) {
  std::vector<MigInstance> instances;
  unsigned max = 0;
  if (functions_->max_mig_devices == nullptr || functions_->mig_device_by_index == nullptr ||
      functions_->max_mig_devices(device, &max) != kSuccess) {
    return instances;
  }
  for (unsigned index = 0; index < max; ++index) {
    void* handle = nullptr;
    // The instances' indices may have gaps, so each index is tried.
    if (functions_->mig_device_by_index(device, index, &handle) != kSuccess) continue;
    std::array<char, kUuidBytes> uuid{};
    std::array<char, kNameBytes> name{};
    if (functions_->device_uuid(handle, uuid.data(), kUuidBytes) != kSuccess) continue;
    MigInstance instance;
    instance.uuid = uuid.data();
    if (functions_->device_name(handle, name.data(), kNameBytes) == kSuccess) {
      instance.name = name.data();
    }
    Functions::Memory memory;
    if (functions_->device_memory(handle, &memory) == kSuccess) {
      instance.memory_total = static_cast<int64_t>(memory.total);
      instance.memory_used = static_cast<int64_t>(memory.used);
    }
    instances.push_back(std::move(instance));
  }
  return instances;
}

}  // namespace

std::function<Inventory()> OpenNvidia(const Places& places) {
  auto opened = Nvml::Open(places.nvml_folder);
  if (!opened) {
    Inventory none;
    none.reason = opened.error().message;
    return [none] { return none; };
  }
  return [nvml = std::shared_ptr<Nvml>(std::move(*opened))] {
    auto inventory = nvml->Read();
    if (!inventory) {
      Inventory none;
      none.reason = inventory.error().message;
      return none;
    }
    if (inventory->reason.empty() && !inventory->devices.empty() && inventory->Units().empty()) {
      inventory->reason = "MIG is enabled and no MIG instance exists";
    }
    return std::move(*inventory);
  };
}

Inventory ReadNvidia(const Places& places) { return OpenNvidia(places)(); }

}  // namespace gpu
