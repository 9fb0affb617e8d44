# The lab's image: packages in one stage, a small root without build tools or caches in the other.
ARG PYTHON_IMAGE=python:3.13-slim

FROM ${PYTHON_IMAGE} AS build
# Where packages come from is the builder's affair: unset, pip asks its default index.
ARG PIP_INDEX_URL
ARG PIP_EXTRA_INDEX_URL
ARG PIP_TRUSTED_HOST
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore
WORKDIR /src
RUN python3 -m venv /opt/stepscope
ENV PATH=/opt/stepscope/bin:$PATH

# Dependencies first: this layer stays while only code changes.
COPY pyproject.toml ./
RUN python3 -c "import tomllib; extras = tomllib.load(open('pyproject.toml', 'rb'))['project']['optional-dependencies']; print(*extras['lab'], *extras['gpu'], sep='\n')" > packages.txt \
 && pip install --requirement packages.txt

COPY . ./
RUN pip wheel --no-deps --wheel-dir /wheels . \
 && pip install --no-deps /wheels/*.whl \
 && pip uninstall --yes pip

FROM ${PYTHON_IMAGE}
COPY --from=build /opt/stepscope /opt/stepscope
# A volume that is mounted here takes over owner and mode: the lab writes its token, its group reads it.
RUN install --directory --owner=10001 --group=10001 --mode=0750 /var/lib/stepscope \
 # Recorders of training jobs, under any user, report to a socket in here.
 && install --directory --owner=10001 --group=10001 --mode=0755 /run/stepscope
ENV PATH=/opt/stepscope/bin:$PATH PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 HOME=/tmp
WORKDIR /tmp
USER 10001:10001
EXPOSE 8000 9401
ENTRYPOINT ["stepscope"]
CMD ["lab", "--host", "0.0.0.0"]
