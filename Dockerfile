# `dyparse serve` without torch: docker run -p 8000:8000 -v "$PWD/model:/model:ro" dyparse /model
FROM python:3.12-slim
COPY . /source
RUN pip install --no-cache-dir "/source[web]" && rm -r /source && useradd --create-home dyparse
USER dyparse
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s \
  CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/healthz', timeout=4)"]
ENTRYPOINT ["dyparse", "serve", "--host", "0.0.0.0"]
