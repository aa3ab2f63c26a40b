#include "answers/rule.h"

namespace answers {
namespace {

// The driver's codes of hardware; others (13, 31, 43, 45) are what programs do. AER: as
// drivers/pci/pcie/aer.c of Linux 4 to 6 prints it.
std::vector<std::string_view> KernelLines() {
  return {"NVRM: Xid (PCI:*): 48,",
          "NVRM: Xid (PCI:*): 57,",
          "NVRM: Xid (PCI:*): 58,",
          "NVRM: Xid (PCI:*): 61,",
          "NVRM: Xid (PCI:*): 62,",
          "NVRM: Xid (PCI:*): 63,",
          "NVRM: Xid (PCI:*): 64,",
          "NVRM: Xid (PCI:*): 74,",
          "NVRM: Xid (PCI:*): 79,",
          "NVRM: Xid (PCI:*): 92,",
          "NVRM: Xid (PCI:*): 94,",
          "NVRM: Xid (PCI:*): 95,",
          "NVRM: Xid (PCI:*): 110,",
          "NVRM: Xid (PCI:*): 119,",
          "NVRM: Xid (PCI:*): 120,",
          "NVRM: Xid (PCI:*): 121,",
          "NVRM: Xid (PCI:*): 123,",
          "NVRM: Xid (PCI:*): 140,",
          "NVRM: Xid (PCI:*): 143,",
          "NVRM: Xid (PCI:*): 14*,*Fatal",  // 144 to 150: NVLink of Blackwell
          "NVRM: Xid (PCI:*): 14*,*Nonfatal",
          "NVRM: Xid (PCI:*): 150,",
          "NVRM: GPU *: GPU has fallen off the bus",
          "NVRM: GPU *: RmInitAdapter failed!",
          "NVRM: GPU *: rm_init_adapter failed",
          "amdgpu: GPU reset(*) failed",
          "GPU is lost.  Reboot the system",
          "*'uncorrectable ECC error encountered'",
          "AER: Uncorrected (Fatal) error received",
          "AER: Uncorrectable (Fatal) error message received",
          "PCIe Bus Error: severity=Uncorrected (Fatal)",
          "PCIe Bus Error: severity=Uncorrectable (Fatal)"};
}

// Of nvidia-smi and the like, which no kernel prints.
std::vector<std::string_view> HardwareLines() {
  std::vector<std::string_view> lines = KernelLines();
  lines.push_back("Unable to determine the device handle for GPU*: Unknown Error");
  return lines;
}

}  // namespace

std::vector<Rule> GpuRules() {
  return {
      {.kind = "gpu-hardware",
       .title = "the GPU, or its link, has failed",
       .advice = Advice::kRetryElsewhere,
       .advice_text = "Run it on another node; have this GPU reset or changed before it gets work.",
       .exceptions = {"uncorrectable ECC error encountered", "uncorrectable NVLink error",
                      "GPU has fallen off the bus", "GPU is lost",
                      "CUDA error: hardware stack error", "CUDA error: unrecoverable",
                      "over nvlink or a hardware error"},
       .lines = HardwareLines(),
       .witnesses = KernelLines(),
       .overrules = {kUnknown, "cuda-error", "collective-timeout", "no-gpu"}},
      {.kind = "python-mismatch",
       .title = "this torch was not built for this GPU",
       .advice = Advice::kFixFirst,
       .advice_text = "Install a torch, and extensions, built for this GPU's compute capability.",
       .exceptions = {"no kernel image is available for execution on the device",
                      "device kernel image is invalid", "invalid device function",
                      "FlashAttention only supports Ampere GPUs or newer",
                      "Your setup doesn't support bf16/gpu", "Expected is_sm80 || is_sm90",
                      "ptxas fatal*is not defined for option 'gpu-name'", "GPUTooOldForTriton",
                      "No operator found for `memory_efficient_attention",
                      "nvcc fatal*Unsupported gpu architecture"},
       .lines = {"hipErrorNoBinaryForGpu", "rocBLAS error: Cannot read *TensileLibrary"}},
      {.kind = "driver-mismatch",
       .title = "the GPU's driver does not fit this CUDA",
       .advice = Advice::kRetryElsewhere,
       .advice_text =
           "Update the node's driver, or use a torch built for the CUDA that it supports.",
       .exceptions = {"CUDA driver version is insufficient for CUDA runtime version",
                      "The NVIDIA driver on your system is too old",
                      "Driver/library version mismatch", "NVML/RM version mismatch",
                      "forward compatibility was attempted on non supported HW",
                      "compiled with an unsupported toolchain", "system not yet initialized",
                      "system has unsupported display driver / cuda driver combination"},
       .lines = {"Failed to initialize NVML: Driver/library version mismatch",
                 "NCCL WARN Cuda failure*CUDA driver version is insufficient",
                 "nvidia-container-cli: requirement error: unsatisfied condition: cuda",
                 "nvidia-container-cli: initialization error: nvml error: driver"}},
      {.kind = "no-gpu",
       .title = "CUDA cannot be used on this machine now",
       .advice = Advice::kRetryElsewhere,
       .advice_text =
           "Another program may hold the GPU for itself alone (compute mode), or the driver "
           "has lost it: look at nvidia-smi there.",
       .exceptions = {"CUDA-capable device(s) is/are busy or unavailable",
                      "all CUDA-capable devices are busy or unavailable",
                      "CUDA unknown error - this may be due to an incorrectly set up environment",
                      "Unexpected error from cudaGetDeviceCount()"},
       .lines = {"Failed to initialize NVML: Unknown Error",
                 "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver"}},
      {.kind = "no-gpu",
       .title = "the job sees no such GPU",
       .advice = Advice::kFixFirst,
       .advice_text = "Ask for GPUs (--gpus), run no more processes than there are, and check "
                      "CUDA_VISIBLE_DEVICES.",
       .exceptions = {"No CUDA GPUs are available", "no CUDA-capable device is detected",
                      "Found no NVIDIA driver on your system",
                      "Torch not compiled with CUDA enabled", "CUDA error: invalid device ordinal",
                      "Invalid device id", "Attempting to deserialize object on a CUDA device but",
                      "Attempting to deserialize object on CUDA device * but",
                      "ProcessGroupNCCL is only supported with GPUs, no GPUs found",
                      "No supported gpu backend found", "You requested gpu: [", "No GPU found",
                      "device >= 0 && device < num_gpus", "CUDA is not available",
                      "CUDA is required but not available",
                      "can not run on your system since the accelerator is not available"},
       .lines = {"could not select device driver \"\" with capabilities: [[gpu]]"}},
      {.kind = "collective-mismatch",
       .title = "two ranks use the same GPU",
       .advice = Advice::kFixFirst,
       .advice_text =
           "Give each process its own: torch.cuda.set_device(LOCAL_RANK) before the first "
           "collective call.",
       .exceptions = {"Duplicate GPU detected"},
       .lines = {"NCCL WARN Duplicate GPU detected"}},
      {.kind = "collective-mismatch",
       .title = "NCCL refuses how it is called",
       .advice = Advice::kFixFirst,
       .advice_text =
           "NCCL_DEBUG=WARN says why: mostly two ranks use the same GPU, or pass tensors "
           "that do not fit each other.",
       .exceptions = {"NCCL error in: *invalid usage", "NCCL error in: *invalid argument"}},
      {.kind = "device-assert",
       .title = "a GPU kernel found a wrong index or value",
       .advice = Advice::kFixFirst,
       .advice_text = "Mostly a label or token id out of range. CUDA_LAUNCH_BLOCKING=1 makes the "
                      "traceback show the true line.",
       .exceptions = {"device-side assert triggered", "device-side assertion triggered"},
       .lines = {"block: [*], thread: [*] Assertion `*` failed", "Device-side assertion `*' failed",
                 "NCCL WARN Cuda failure*'device-side assert triggered'"}},
      {.kind = "cuda-error",
       .title = "a GPU kernel went wrong",
       .advice = Advice::kFixFirst,
       .advice_text = "CUDA_LAUNCH_BLOCKING=1 makes the traceback show the true line; a custom "
                      "kernel is the first suspect, then the GPU (look for an Xid).",
       .exceptions = {"an illegal memory access was encountered",
                      "cuda runtime error (",
                      "GET was unable to find an engine to execute this computation",
                      "Unable to find a valid cuDNN algorithm",
                      "OutOfResources: out of resource",
                      "CUDA error: misaligned address",
                      "CUDA error: an illegal instruction",
                      "CUDA error: unspecified launch failure",
                      "CUDA error: the launch timed out",
                      "CUBLAS_STATUS_",
                      "CUDNN_STATUS_",
                      "CUSOLVER_STATUS_",
                      "CUFFT_",
                      "CUSPARSE_STATUS_",
                      "CUDA error: ",
                      "CUDA driver error: ",
                      "HIP error: ",
                      "MIOPEN_STATUS_",
                      "miopenStatus",
                      "Triton Error [CUDA]: ",
                      "CUDA_ERROR_"},
       .lines = {"Memory access fault by GPU node-", ":0:rocdevice.cpp*: aborting with error",
                 "NCCL WARN Cuda failure*'an illegal memory access was encountered'",
                 "NCCL WARN Cuda failure*'unspecified launch failure'",
                 "NCCL WARN Cuda failure*'misaligned address'"}},
  };
}

}  // namespace answers
