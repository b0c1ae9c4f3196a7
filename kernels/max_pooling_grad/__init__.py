"""MaxPoolingGrad: gradient of a max pooling whose windows do not overlap."""
