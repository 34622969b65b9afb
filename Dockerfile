# One image for a classroom's server and for a Hugging Face Space: nginx and, behind it, as many processes as cores.
# docker build -t bert-explorer . && docker run --init -p 8501:8501 bert-explorer
FROM python:3.11-slim

# Without versions: what Debian has corrected since is wanted.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install -y --no-install-recommends nginx \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home --uid 1000 user

WORKDIR /home/user/app

# What stands above "# tests" is all that the app needs; the extra index has PyTorch without CUDA.
COPY requirements.txt .
RUN sed '/^# tests/,$d' requirements.txt > /tmp/runtime.txt \
    && pip install --no-cache-dir --extra-index-url https://download.pytorch.org/whl/cpu -r /tmp/runtime.txt

# The files that .dockerignore lets through. Who runs them may not write here, so they are compiled now.
COPY . .
RUN python -m compileall -q .

USER 1000
# Visitors are offered the bundled model only. docker run -e BERTVIZ_MODELS= offers every model,
# -e BERTVIZ_MODELS=bundled,some/model a list of them. -e BERTVIZ_FRAME_ANCESTORS="'self' https://course.example.org"
# lets pages there show the app in a frame.
ENV HOME=/home/user HF_HOME=/home/user/.cache/huggingface
EXPOSE 8501
HEALTHCHECK --start-period=60s --timeout=5s \
    CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8501/_stcore/health', timeout=4)"]
CMD ["python", "-m", "deploy", "--port=8501"]
