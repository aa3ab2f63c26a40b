#include "data_parallel.h"

#include <stdexcept>
#include <utility>

DataParallel::DataParallel(std::vector<at::Tensor> parameters,
                           c10::intrusive_ptr<c10d::ProcessGroupGloo> group, size_t bucket_bytes)
    : group_(std::move(group)) {
  if (group_ == nullptr) return;
  for (const at::Tensor& parameter : parameters) {
    std::vector<at::Tensor> message = {parameter.detach()};
    group_->broadcast(message)->wait();
  }
  MakeBuckets(parameters, bucket_bytes);
  for (size_t bucket = 0; bucket < buckets_.size(); ++bucket) {
    for (size_t index = 0; index < buckets_[bucket].parameters.size(); ++index) {
      buckets_[bucket].parameters[index].register_hook(
          [this, bucket, index](at::Tensor gradient) { OnGradient(bucket, index, gradient); });
    }
  }
}

void DataParallel::MakeBuckets(const std::vector<at::Tensor>& parameters, size_t bucket_bytes) {
  size_t filled = bucket_bytes;
  for (auto it = parameters.rbegin(); it != parameters.rend(); ++it) {
    if (filled >= bucket_bytes) {
      buckets_.emplace_back();
      filled = 0;
    }
    buckets_.back().parameters.push_back(*it);
    filled += it->nbytes();
  }
  for (Bucket& bucket : buckets_) {
    int64_t count = 0;
    for (const at::Tensor& parameter : bucket.parameters) count += parameter.numel();
    bucket.flat = at::empty({count}, bucket.parameters.front().options().requires_grad(false));
    int64_t at = 0;
    for (const at::Tensor& parameter : bucket.parameters) {
      bucket.gradients.push_back(
          bucket.flat.narrow(0, at, parameter.numel()).view(parameter.sizes()));
      at += parameter.numel();
    }
  }
}

void DataParallel::BeginStep() {
  for (Bucket& bucket : buckets_) {
    bucket.missing = bucket.parameters.size();
    // They lie in the bucket: what backward adds to them would be added to what is being sent.
    for (const at::Tensor& parameter : bucket.parameters) parameter.mutable_grad() = at::Tensor();
  }
}

void DataParallel::OnGradient(size_t bucket_number, size_t index, const at::Tensor& gradient) {
  Bucket& bucket = buckets_[bucket_number];
  if (bucket.missing == 0) throw std::logic_error("a gradient came twice, or before BeginStep");
  bucket.gradients[index].copy_(gradient);
  if (--bucket.missing > 0) return;
  std::vector<at::Tensor> message = {bucket.flat};
  bucket.sending = group_->allreduce(message);
}

void DataParallel::EndStep() {
  for (Bucket& bucket : buckets_) {
    if (bucket.missing > 0) {
      throw std::logic_error(std::to_string(bucket.missing) +
                             " parameter(s) had no gradient: the other ranks wait for them");
    }
    bucket.sending->wait();
    bucket.flat.div_(group_->getSize());
    for (size_t i = 0; i < bucket.parameters.size(); ++i) {
      bucket.parameters[i].mutable_grad() = bucket.gradients[i];
    }
  }
}
