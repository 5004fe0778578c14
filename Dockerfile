# The service, with what it needs for PostgreSQL and Redis: examples/compose runs it with both.
FROM python:3.13-slim AS build
COPY pyproject.toml hatch_build.py README.md LICENSE /source/
COPY src /source/src
RUN python -m venv /opt/ebbtide \
    && /opt/ebbtide/bin/pip install --no-cache-dir '/source[postgres,prices,redis,service]'

FROM python:3.13-slim
RUN useradd --system --uid 10001 --home-dir /data --create-home ebbtide
COPY --from=build /opt/ebbtide /opt/ebbtide
ENV PATH=/opt/ebbtide/bin:$PATH EBBTIDE_STATE=/data PYTHONUNBUFFERED=1
USER 10001
WORKDIR /data
VOLUME /data
EXPOSE 8620
HEALTHCHECK --interval=10s --timeout=5s --start-period=20s \
    CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8620/healthz', timeout=4)"]
ENTRYPOINT ["ebbtide"]
# Others reach it there: it does not start without EBBTIDE_TOKEN.
CMD ["serve", "--host", "0.0.0.0"]
