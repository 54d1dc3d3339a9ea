# The studio: `docker compose up`, or see docs/install.md. EXTRAS chooses what is installed beside the studio.
FROM python:3.12-slim AS build
ARG EXTRAS=studio,pdf,judge,remote,auth
WORKDIR /build
COPY requirements.txt .ci/requirements.lock .ci/requirements-dev.lock ./
RUN awk '/^# / {on = $2 == "uv"; next} on' requirements-dev.lock \
    | pip install --no-cache-dir --require-hashes -r /dev/stdin
COPY pyproject.toml README.md LICENSE app.py ./
COPY .streamlit .streamlit
COPY metrics metrics
COPY components components
COPY pages pages
COPY data/samples data/samples
# the locked versions of what the extras need, their hashes checked; all but torch have one
RUN python -m venv /opt/assay \
    && uv build --wheel --out-dir dist \
    && uv pip install --no-cache --compile-bytecode --python /opt/assay/bin/python \
        --constraints requirements.lock --constraints requirements.txt "$(echo dist/*.whl)[$EXTRAS]"

FROM python:3.12-slim
# the sandbox of code_execution and sql_execution; what the container must be allowed for it: docs/code.md
RUN apt-get update && apt-get install -y --no-install-recommends bubblewrap libseccomp2 && rm -rf /var/lib/apt/lists/*
RUN useradd --create-home --uid 10001 assay \
    && install -d -o assay -g assay -m 700 /workspace
COPY --from=build /opt/assay /opt/assay
ENV PATH=/opt/assay/bin:$PATH ASSAY_WORKSPACE=/workspace ASSAY_MODELS=/workspace/models
USER assay
WORKDIR /home/assay
RUN assay warm-up
VOLUME /workspace
EXPOSE 8501
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --retries=3 \
    CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8501/_stcore/health', timeout=4)"]
# inside the container every address; compose.yaml publishes it on the host's loopback only. With people who sign in:
# docker run -v FILE:/team.toml:ro … assay studio --address 0.0.0.0 --team /team.toml (docs/team.md)
CMD ["assay", "studio", "--address", "0.0.0.0", "--port", "8501", "--without-sign-in"]
