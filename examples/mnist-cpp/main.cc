// The training of ../mnist-pytorchjob in C++: the same network, data, steps and lines, one process
// a rank. `--init` goes on from a checkpoint of the Python program.
#include <torch/torch.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "data_parallel.h"
#include "images.h"
#include "join.h"
#include "net.h"

namespace {

constexpr double kMomentum = 0.9;
constexpr int64_t kTestBatch = 500;
constexpr uint64_t kSeedStride = 1'000'003;
constexpr int64_t kSample = 10'000;  // images that brightness and contrast are measured on

struct Usage : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Flags {
  int64_t epochs = 1;
  int64_t batch_size = 256;  // of all processes together
  double lr = 0.02;
  int64_t seed = 1;
  int64_t limit = 0;  // 0: all images
  std::string data;
  std::string init;
};

int64_t Positive(const std::string& name, const std::string& value) {
  if (value.empty() || value.size() > 15 ||
      value.find_first_not_of("0123456789") != std::string::npos || std::stoll(value) == 0) {
    throw Usage(name + ": \"" + value + "\" is not a positive number");
  }
  return std::stoll(value);
}

Flags ParseFlags(int argc, char** argv) {
  Flags flags;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    if (equals == std::string::npos) throw Usage(word + ": flags are --NAME=VALUE");
    const std::string value = word.substr(equals + 1);
    if (name == "--epochs") {
      flags.epochs = Positive(name, value);
    } else if (name == "--batch-size") {
      flags.batch_size = Positive(name, value);
    } else if (name == "--seed") {
      flags.seed = Positive(name, value);
    } else if (name == "--limit") {
      flags.limit = Positive(name, value);
    } else if (name == "--lr") {
      char* end = nullptr;
      flags.lr = std::strtod(value.c_str(), &end);
      if (value.empty() || *end != '\0') throw Usage("--lr: \"" + value + "\" is not a number");
    } else if (name == "--data") {
      flags.data = value;
    } else if (name == "--init") {
      flags.init = value;
    } else {
      throw Usage("no flag " + name +
                  "; there are --epochs, --batch-size, --lr, --seed, --limit, --data, --init");
    }
  }
  return flags;
}

class Training {
 public:
  Training(const Flags& flags, const Place& place, c10::intrusive_ptr<c10d::ProcessGroupGloo> group)
      : flags_(flags), place_(place), group_(std::move(group)), data_(LoadImages(flags.data)) {
    if (flags.limit > 0) {
      data_.train.pixels = data_.train.pixels.slice(0, 0, flags.limit);
      data_.train.labels = data_.train.labels.slice(0, 0, flags.limit);
    }
    if (flags.batch_size % place.world_size != 0) {
      throw Usage("--batch-size=" + std::to_string(flags.batch_size) +
                  " cannot be shared out evenly among " + std::to_string(place.world_size) +
                  " processes");
    }
    if (flags.batch_size > Count(data_.train)) {
      throw Usage("--batch-size=" + std::to_string(flags.batch_size) + " is more than the " +
                  std::to_string(Count(data_.train)) + " images to train on");
    }
    const torch::Tensor sample = data_.train.pixels.slice(0, 0, kSample).to(torch::kFloat) / 255;
    mean_ = sample.mean().item<float>();
    deviation_ = sample.std().item<float>();
    torch::manual_seed(static_cast<uint64_t>(flags.seed));
    net_ = Net();
    if (!flags.init.empty()) Load(flags.init);
    parallel_.emplace(net_->parameters(), group_);
  }

  void Run() {
    if (place_.rank == 0 && group_ != nullptr) {
      std::printf("gradients travel in %zu buckets\n", parallel_->buckets());
    }
    for (int64_t epoch = first_epoch_; epoch <= flags_.epochs; ++epoch) {
      const auto begun = std::chrono::steady_clock::now();
      const int64_t count = TrainEpoch(epoch);
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
      if (place_.rank == 0) {
        std::printf("epoch %ld took %.2f s, %.0f images/s\n", static_cast<long>(epoch),
                    took.count(), static_cast<double>(count) / took.count());
      }
    }
    Test();
  }

 private:
  static int64_t Count(const Images& images) { return images.labels.size(0); }

  // A checkpoint of checkpoints.py: epoch, weights, momentum.
  void Load(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw std::runtime_error(path + ": cannot be opened");
    const std::vector<char> bytes((std::istreambuf_iterator<char>(file)),
                                  std::istreambuf_iterator<char>());
    const auto state = torch::pickle_load(bytes).toGenericDict();
    const auto weights = state.at("weights").toGenericDict();
    const auto momentum = state.at("momentum").toGenericDict();
    const torch::NoGradGuard no_gradient;
    for (auto& named : net_->named_parameters()) {
      named.value().copy_(weights.at(named.key()).toTensor());
      velocity_[named.key()] = momentum.at(named.key()).toTensor().clone();
    }
    first_epoch_ = state.at("epoch").toInt() + 1;
  }

  std::pair<torch::Tensor, torch::Tensor> Batch(const Images& images,
                                                const torch::Tensor& indices) const {
    const torch::Tensor pixels = images.pixels.index_select(0, indices).to(torch::kFloat) / 255;
    return {(pixels - mean_) / deviation_, images.labels.index_select(0, indices).to(torch::kLong)};
  }

  int64_t TrainEpoch(int64_t epoch) {
    net_->train();
    auto order = at::detail::createCPUGenerator(static_cast<uint64_t>(flags_.seed) * kSeedStride +
                                                static_cast<uint64_t>(epoch));
    const torch::Tensor shuffled = torch::randperm(Count(data_.train), order, torch::kLong);
    const int64_t steps = Count(data_.train) / flags_.batch_size;
    for (int64_t step = 0; step < steps; ++step) {
      // The same images whatever the number of ranks; this one has its share of them.
      const torch::Tensor mine = shuffled.slice(0, step * flags_.batch_size + place_.rank,
                                                (step + 1) * flags_.batch_size, place_.world_size);
      const auto [pixels, labels] = Batch(data_.train, mine);
      net_->zero_grad();
      parallel_->BeginStep();
      torch::nn::functional::cross_entropy(net_(pixels), labels).backward();
      parallel_->EndStep();
      Update();
    }
    return steps * flags_.batch_size;
  }

  // Stochastic gradient descent with momentum, as torch.optim.SGD has it.
  void Update() {
    const torch::NoGradGuard no_gradient;
    for (auto& named : net_->named_parameters()) {
      torch::Tensor& velocity = velocity_[named.key()];
      if (velocity.defined()) {
        velocity.mul_(kMomentum).add_(named.value().grad());
      } else {
        velocity = named.value().grad().clone();
      }
      named.value().sub_(velocity, flags_.lr);
    }
  }

  void Test() {
    net_->eval();
    const torch::NoGradGuard no_gradient;
    double loss = 0;
    double right = 0;
    const torch::Tensor mine = torch::arange(place_.rank, Count(data_.test), place_.world_size);
    for (const torch::Tensor& indices : mine.split(kTestBatch)) {
      const auto [pixels, labels] = Batch(data_.test, indices);
      const torch::Tensor logits = net_(pixels);
      loss += torch::nn::functional::cross_entropy(
                  logits, labels,
                  torch::nn::functional::CrossEntropyFuncOptions().reduction(torch::kSum))
                  .item<double>();
      right += logits.argmax(1).eq(labels).sum().item<double>();
    }
    std::vector<torch::Tensor> sums = {
        torch::tensor({loss, right, static_cast<double>(mine.size(0))}, torch::kDouble)};
    if (group_ != nullptr) group_->allreduce(sums)->wait();
    const double count = sums[0][2].item<double>();
    if (place_.rank == 0) {
      std::printf("test: loss=%.6f accuracy=%.4f\n", sums[0][0].item<double>() / count,
                  sums[0][1].item<double>() / count);
    }
  }

  const Flags flags_;
  const Place place_;
  const c10::intrusive_ptr<c10d::ProcessGroupGloo> group_;
  DataSet data_;
  float mean_ = 0;
  float deviation_ = 1;
  Net net_{nullptr};
  std::optional<DataParallel> parallel_;
  std::map<std::string, torch::Tensor> velocity_;
  int64_t first_epoch_ = 1;
};

int RunRank(int argc, char** argv) {
  const Flags flags = ParseFlags(argc, argv);
  const Place place = PlaceFromEnvironment();
  c10::intrusive_ptr<c10d::ProcessGroupGloo> group;
  if (place.world_size > 1) group = Join(place);
  std::printf("rank %d of %d\n", place.rank, place.world_size);
  std::fflush(stdout);
  Training(flags, place, group).Run();
  std::fflush(stdout);
  // The store is rank 0's: nobody goes before all are done with it.
  if (group != nullptr) group->barrier()->wait();
  return 0;
}

std::string FirstLine(const char* words) {
  const std::string all = words;
  return all.substr(0, all.find('\n'));
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return RunRank(argc, argv);
  } catch (const Usage& usage) {
    std::fprintf(stderr, "error: %s\n", usage.what());
    return 2;
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "error: %s\n", FirstLine(failure.what()).c_str());
    return 1;
  }
}
