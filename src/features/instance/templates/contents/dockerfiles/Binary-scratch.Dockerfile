# This Dockerfile is a template: it may need editing before it fits your project.

# The final image holds one file, so the program must be linked statically.
FROM alpine:3.20 AS build
RUN apk add --no-cache build-base
WORKDIR /src
COPY . .
RUN make LDFLAGS=-static

FROM scratch
COPY --from=build /src/app /app
USER 65534:65534
EXPOSE 5000
ENTRYPOINT ["/app"]
