// The data of ../mnist-pytorchjob/images.py: IDX files of a directory, else the small set.
#pragma once

#include <ATen/ATen.h>

#include <string>

struct Images {
  at::Tensor pixels;  // count x 1 x 28 x 28, bytes
  at::Tensor labels;  // count, bytes
};

struct DataSet {
  Images train;
  Images test;
};

// `directory` "": the small set. std::runtime_error names the file and what is wrong with it.
DataSet LoadImages(const std::string& directory);
