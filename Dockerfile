# One image for a classroom's server and for a Hugging Face Space, whose README begins with
#   ---
#   sdk: docker
#   app_port: 8501
#   ---
# docker build -t bert-explorer . && docker run -p 8501:8501 bert-explorer
FROM python:3.11-slim

RUN useradd --create-home --uid 1000 user
WORKDIR /home/user/app

# What stands above "# tests" is all that the app needs; the extra index has PyTorch without CUDA.
COPY requirements.txt .
RUN sed '/^# tests/,$d' requirements.txt > /tmp/runtime.txt \
    && pip install --no-cache-dir --extra-index-url https://download.pytorch.org/whl/cpu -r /tmp/runtime.txt

# The files that .dockerignore lets through.
COPY . .

USER 1000
# Only the bundled model: whoever visits a public server neither has it download what they name nor learns what lies in
# its folders. docker run -e BERTVIZ_MODELS= offers every model, -e BERTVIZ_MODELS=bundled,some/model a list of them.
ENV HOME=/home/user HF_HOME=/home/user/.cache/huggingface BERTVIZ_MODELS=bundled
EXPOSE 8501
HEALTHCHECK --start-period=60s --timeout=5s \
    CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8501/_stcore/health', timeout=4)"]
CMD ["streamlit", "run", "app.py", "--server.address=0.0.0.0", "--server.port=8501", "--server.headless=true"]
