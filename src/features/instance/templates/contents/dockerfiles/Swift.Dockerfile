# This Dockerfile is a template: it may need editing before it fits your project.

FROM swift:5.10 AS build
WORKDIR /src

# Dependencies change less often than code: fetched apart, they stay cached.
COPY Package.swift Package.resolved ./
RUN swift package resolve
COPY . .
RUN swift build --configuration release --static-swift-stdlib

FROM debian:bookworm-slim
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates tzdata && rm -rf /var/lib/apt/lists/*
RUN useradd --system --no-create-home app
COPY --from=build /src/.build/release/App /usr/local/bin/app
USER app
EXPOSE 8080
CMD ["app"]
