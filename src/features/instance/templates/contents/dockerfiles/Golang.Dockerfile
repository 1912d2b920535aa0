# This Dockerfile is a template: it may need editing before it fits your project.

FROM golang:1.23 AS build
WORKDIR /src

# Modules change less often than code: fetched apart, they stay cached.
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN go build -o /usr/local/bin/app .

FROM debian:bookworm-slim
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates && rm -rf /var/lib/apt/lists/*
RUN useradd --system --no-create-home app
COPY --from=build /usr/local/bin/app /usr/local/bin/app
USER app
EXPOSE 8080
CMD ["app"]
