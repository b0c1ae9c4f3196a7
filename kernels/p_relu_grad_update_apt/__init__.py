"""PReluGradUpdate on 950: element-wise part of the gradient of PReLU."""
