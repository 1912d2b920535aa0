# This Dockerfile is a template: it may need editing before it fits your project.

FROM rust:1 AS build
WORKDIR /src

# An empty program compiles the dependencies, which then stay cached while only code changes.
COPY Cargo.toml Cargo.lock ./
RUN mkdir src && echo 'fn main() {}' > src/main.rs && cargo build --release --locked
COPY src ./src
RUN touch src/main.rs && cargo install --path . --locked --root /usr/local

FROM debian:bookworm-slim
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates && rm -rf /var/lib/apt/lists/*
RUN useradd --system --no-create-home app
COPY --from=build /usr/local/bin/ /usr/local/bin/
USER app
EXPOSE 8080
CMD ["app"]
