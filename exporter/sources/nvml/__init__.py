"""Real GPUs as NVML shows them, through the package `nvidia-ml-py`. It is entered by `source.NvmlSource`."""
