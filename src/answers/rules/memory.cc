#include <cstdlib>

#include "answers/rule.h"
#include "base/strings.h"

namespace answers {
namespace {

// "20.00 GiB" in MiB; 0 when it is none.
double MebibytesOf(std::string_view text) {
  const std::string number(text.substr(0, 24));
  char* end = nullptr;
  const double value = std::strtod(number.c_str(), &end);
  const std::string_view unit = std::string_view(end).substr(0, 4);
  return unit == " GiB" ? value * 1024 : unit == " MiB" ? value : 0;
}

double SizeBehind(std::string_view text, std::string_view words) {
  const size_t found = text.find(words);
  return found == std::string_view::npos ? 0 : MebibytesOf(text.substr(found + words.size()));
}

double SizeBefore(std::string_view text, std::string_view words) {
  const size_t found = text.find(words);
  if (found == std::string_view::npos) return 0;
  const size_t begin = text.substr(0, found).find_last_of(";,(");
  return begin == std::string_view::npos ? 0 : MebibytesOf(base::Trim(text.substr(begin + 1)));
}

}  // namespace

const Rule kGpuTakenByOthers = {
    .kind = "cuda-out-of-memory-others",
    .title = "other programs hold the GPU's memory",
    .advice = Advice::kRetryElsewhere,
    .advice_text = "nvidia-smi names them: wait for their end, or take another GPU.",
    .exceptions = {}};

bool IsTakenByOthers(std::string_view text) {
  // Since torch 2.1: "Process 7 has 20.00 GiB memory in use. Including non-PyTorch memory, this
  // process has 2.34 GiB memory in use."
  const double own = SizeBehind(text, "this process has ");
  double others = 0;
  for (size_t at = text.find("Process "); at != std::string_view::npos;
       at = text.find("Process ", at + 1)) {
    others += SizeBehind(text.substr(at, 64), " has ");
  }
  // Where it runs in a namespace of pids it knows its own number by no other's: what PyTorch holds
  // is this process's.
  const double held = SizeBehind(text, "Of the allocated memory ");
  if (own == 0 && others > 0 && held > others / 2) return false;
  if (own > 0 || others > 0) return others > own;
  // Before: "(GPU 0; 7.79 GiB total capacity; 5 GiB already allocated; 10 MiB free; 5.7 GiB
  // reserved in total by PyTorch)"
  const double total = SizeBefore(text, " total capacity");
  const double reserved = SizeBefore(text, " reserved in total");
  constexpr double kContext = 1024;  // CUDA's own, of this process
  return total > 0 && reserved > 0 &&
         total - SizeBefore(text, " free") - reserved - kContext > reserved;
}

std::vector<Rule> MemoryRules() {
  return {
      {.kind = "cuda-out-of-memory",
       .title = "the GPU has no memory left",
       .advice = Advice::kFixFirst,
       .advice_text =
           "Use less: a smaller batch, gradient accumulation or checkpointing, a sharded "
           "optimizer. A retry fails the same way.",
       .exceptions = {" out of memory. Tried to allocate",
                      "CUDA out of memory",
                      "MPS backend out of memory",
                      "CUDA error: out of memory",
                      "CUDA driver error: out of memory",
                      "cuda runtime error (2) : ",
                      "HIP error: out of memory",
                      "Triton Error [CUDA]: out of memory",
                      "CUDA_ERROR_OUT_OF_MEMORY",
                      "cudaErrorMemoryAllocation",
                      "Out of memory allocating",
                      "RESOURCE_EXHAUSTED: Out of memory",
                      "_ALLOC_FAILED",
                      "Cuda failure*'out of memory'",
                      "No available memory for the cache blocks",
                      "No executable batch size found, reached zero",
                      "would exceed allowed memory",
                      "^torch.OutOfMemoryError: ",
                      "^torch.cuda.OutOfMemoryError: ",
                      "OOM when allocating tensor",
                      "Failed to CUDA calloc",
                      "Failed to CUDA malloc",
                      "cublasCreate*ALLOC",
                      "CUDA OOM"},
       .lines = {"WARN *Cuda failure*'out of memory'", "WARN Failed to CUDA calloc",
                 "WARN Failed to CUDA malloc"}},
      {.kind = "shm-too-small",
       .title = "shared memory (/dev/shm) is too small",
       .advice = Advice::kFixFirst,
       .advice_text = "Make it larger (--shm-size, an emptyDir of medium Memory at /dev/shm), or "
                      "use fewer data loader workers.",
       .exceptions = {"is killed by signal: Bus error",
                      "out of shared memory. Please try to raise your shared memory limit",
                      "unable to allocate shared memory(shm)*No space left on device",
                      "unable to open shared memory object*No space left on device",
                      "unable to write to file </torch_", "unable to resize file </torch_",
                      "unable to mmap*/dev/shm", "No space left on device*/dev/shm",
                      "/dev/shm*No space left on device", "exceeds /dev/shm size",
                      "Error while creating shared memory segment",
                      "failed to extend /dev/shm/nccl-"},
       .lines = {"Unexpected bus error encountered in worker",
                 "WARN Error while creating shared memory segment",
                 "WARN Error: failed to extend /dev/shm/",
                 "WARN Call to posix_fallocate failed : No space left on device",
                 "WARN Call to ftruncate failed : No space left on device"},
       .witnesses = {"^/dev/shm is full", "^/dev/shm has no inodes left"},
       .overrules = {kUnknown, "data-loader"}},
      {.kind = "too-many-open-files",
       .title = "the process has too many open files",
       .advice = Advice::kFixFirst,
       .advice_text = "Raise the limit (ulimit -n), or share tensors by file system: "
                      "torch.multiprocessing.set_sharing_strategy('file_system').",
       .exceptions = {"Too many open files", "received 0 items of ancdata",
                      "filedescriptor out of range in select()",
                      "unable to open shared memory object *in read-write mode$",
                      "inotify instance limit reached", "inotify watch limit reached"},
       .lines = {": Too many open files"},
       .witnesses = {"VFS: file-max limit", " descriptors open$"},
       .overrules = {kUnknown}},
      {.kind = "process-limit",
       .title = "no more threads or processes can be started",
       .advice = Advice::kFixFirst,
       .advice_text = "Raise the limit (ulimit -u, pids.max of the cgroup), or start fewer: "
                      "OMP_NUM_THREADS, data loader workers.",
       .exceptions = {"RuntimeError: can't start new thread",
                      "BlockingIOError: [Errno 11] Resource temporarily unavailable",
                      "^RuntimeError: Resource temporarily unavailable",
                      "^Resource temporarily unavailable"},
       .lines = {"libgomp: Thread creation failed: Resource temporarily unavailable",
                 "blas_thread_init: pthread_create failed", "OMP: System error #11: Resource",
                 ": fork: Resource temporarily unavailable",
                 ": fork: retry: Resource temporarily unavailable",
                 "creation via pthread_create() failed",
                 "cgroup: fork rejected by pids controller in"},
       .witnesses = {"cgroup: fork rejected by pids controller in", " processes and threads$"},
       .overrules = {kUnknown, "data-loader"}},
      {.kind = "host-out-of-memory",
       .title = "the machine, or the pod's limit, has no memory left",
       .advice = Advice::kFixFirst,
       .advice_text = "Give the job more memory, or use less: smaller batches, fewer data loader "
                      "workers, no whole dataset in memory.",
       .exceptions = {"DefaultCPUAllocator: can't allocate memory",
                      "DefaultCPUAllocator: not enough memory", "^MemoryError",
                      "ArrayMemoryError: Unable to allocate", "[Errno 12] Cannot allocate memory",
                      "MemoryError: Unable to allocate",
                      "Torch: not enough memory: ", "[WinError 1455]", "paging file is too small",
                      "[Errno 12]", "OutOfMemoryError: *on the host",
                      "Error: *Cannot allocate memory", "cudaHostAlloc*out of memory",
                      "Unable to allocate * for an array", ">: Cannot allocate memory (12)",
                      "C error: out of memory", "ArrowMemoryError: ", "std::bad_alloc",
                      "OutOfMemoryError: Task was killed due to the node running low on memory"},
       .lines = {" invoked oom-killer: ",
                 "oom_reaper: reaped process",
                 "OutOfMemoryError: Java heap space",
                 "JobState=OUT_OF_MEMORY",
                 " OUT_OF_ME",
                 "ut of memory: Killed process",
                 "ut of memory: Kill process",
                 "oom-kill:constraint=",
                 "Killed * due to memory pressure for ",
                 "low memory! at or below SIG",
                 ": fork: Cannot allocate memory",
                 "slurmstepd: error: Detected*oom",
                 "slurmstepd: error: *has been OOM Killed",
                 "slurmstepd: error: *xceeded*memory limit",
                 "srun: error: *: task*: Out Of Memory",
                 "PBS: job killed: mem ",
                 "PBS: job killed: vmem ",
                 "TERM_MEMLIMIT: job killed",
                 "what():  std::bad_alloc",
                 "failed to allocate memory: Cannot allocate memory"},
       .witnesses = {"ut of memory: Killed process", "oom-kill:constraint=", "^oom_kill "},
       .overrules = {kUnknown, "data-loader"}},
  };
}

}  // namespace answers
