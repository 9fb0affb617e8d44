"""What the optional parts of the package bring, by import name."""

LAB_PACKAGES = (
    "annotated_doc", "fastapi", "fastapi_offline", "markdown_it", "numpy", "prometheus_client", "pydantic", "starlette",
    "uvicorn", "yaml",
)  # fmt: skip
"""The extra `lab`: without one of these no job can be simulated or served."""

GPU_PACKAGES = ("prometheus_client", "pynvml", "requests", "starlette", "uvicorn")
"""The extra `gpu`: reads real GPUs and serves what they say."""

STACK_PACKAGES = ("docker", "requests", "urllib3")
"""The extra `stack`: the Docker SDK and what it stands on."""

EXTRAS = {"lab": LAB_PACKAGES, "stack": STACK_PACKAGES}
