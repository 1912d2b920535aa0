# This Dockerfile is a template: it may need editing before it fits your project.

# Compile first, then keep nothing but the program.
FROM debian:bookworm AS build
RUN apt-get update && apt-get install -y --no-install-recommends build-essential && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY . .
RUN make

FROM debian:bookworm-slim
RUN useradd --system --no-create-home app
COPY --from=build /src/app /usr/local/bin/app
USER app
EXPOSE 5000
CMD ["app"]
