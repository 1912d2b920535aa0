# This Dockerfile is a template: it may need editing before it fits your project.

# Compile first, then keep nothing but the program. Alpine's C library is musl.
FROM alpine:3.20 AS build
RUN apk add --no-cache build-base
WORKDIR /src
COPY . .
RUN make

FROM alpine:3.20
RUN adduser -S -D -H app
COPY --from=build /src/app /usr/local/bin/app
USER app
EXPOSE 5000
CMD ["app"]
