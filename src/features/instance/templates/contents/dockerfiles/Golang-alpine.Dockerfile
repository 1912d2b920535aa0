# This Dockerfile is a template: it may need editing before it fits your project.

FROM golang:1.23-alpine AS build
WORKDIR /src

# Modules change less often than code: fetched apart, they stay cached.
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -o /usr/local/bin/app .

FROM alpine:3.20
RUN apk add --no-cache ca-certificates && adduser -S -D -H app
COPY --from=build /usr/local/bin/app /usr/local/bin/app
USER app
EXPOSE 8080
CMD ["app"]
