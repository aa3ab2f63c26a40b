// The small network of ../mnist-pytorchjob/models/net.py, its parameters under the same names.
#pragma once

#include <torch/nn.h>

struct NetImpl : torch::nn::Module {
  NetImpl() {
    register_module("conv1", conv1);
    register_module("conv2", conv2);
    register_module("fc1", fc1);
    register_module("fc2", fc2);
  }

  // 1 x 28 x 28 images to the logits of ten classes.
  torch::Tensor forward(const torch::Tensor& images) {
    torch::Tensor features = torch::relu(conv1(images));
    features = torch::max_pool2d(torch::relu(conv2(features)), 2);
    return fc2(torch::relu(fc1(features.flatten(1))));
  }

  torch::nn::Conv2d conv1{torch::nn::Conv2dOptions(1, 8, 5).stride(2)};
  torch::nn::Conv2d conv2{torch::nn::Conv2dOptions(8, 16, 3)};
  torch::nn::Linear fc1{16 * 5 * 5, 32};
  torch::nn::Linear fc2{32, 10};
};
TORCH_MODULE(Net);
