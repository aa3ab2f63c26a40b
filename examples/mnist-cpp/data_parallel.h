// DistributedDataParallel in small: the C++ front end of PyTorch has none.
//
// clang-format off
//   backward:  fc2.bias  fc2.weight  fc1.bias  fc1.weight  conv2.bias ...      gradients, in this order
//              └────── bucket 0 ──────┘└──── bucket 1 ────┘└──── bucket 2 ──
//   network:                   [ all-reduce of bucket 0 ][ of bucket 1 ]  ...  while backward goes on
// clang-format on
//
// Gradients become known from the last layer to the first. They are copied into buckets in that
// order, and a bucket is on its way to the other ranks as soon as its last gradient is there.
#pragma once

#include <ATen/ATen.h>

#include <cstddef>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <vector>

// One thread drives it, the hooks of its parameters included: backward of a CPU graph runs on the
// thread that asked for it. `group` may be null: of one process. Every rank makes it of the same
// parameters.
class DataParallel {
 public:
  static constexpr size_t kBucketBytes = 32 << 10;  // the network is small; PyTorch's are of 25 MB

  // Gives all ranks the parameters of rank 0; blocks until they have them.
  DataParallel(std::vector<at::Tensor> parameters, c10::intrusive_ptr<c10d::ProcessGroupGloo> group,
               size_t bucket_bytes = kBucketBytes);

  // Before backward: forgets the gradients of the step before.
  void BeginStep();
  // After backward: every parameter's gradient is the mean of all ranks'. Blocks for what is still
  // under way. std::logic_error when backward left a parameter out.
  void EndStep();

  size_t buckets() const { return buckets_.size(); }

 private:
  struct Bucket {
    at::Tensor flat;
    std::vector<at::Tensor> gradients;  // views into `flat`, in the parameters' shapes
    std::vector<at::Tensor> parameters;
    size_t missing = 0;  // gradients that are not there yet
    c10::intrusive_ptr<c10d::Work> sending;
  };

  void MakeBuckets(const std::vector<at::Tensor>& parameters, size_t bucket_bytes);
  void OnGradient(size_t bucket, size_t index, const at::Tensor& gradient);

  const c10::intrusive_ptr<c10d::ProcessGroupGloo> group_;
  std::vector<Bucket> buckets_;
};
