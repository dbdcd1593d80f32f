# `louver proxy` as a static binary on nothing else: docs/proxy.md, "In a container".
FROM rust:1-alpine AS build
RUN apk add --no-cache ca-certificates make musl-dev
WORKDIR /louver
COPY . .
RUN cargo build --release --locked -p louver-cli && mkdir /data

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /louver/target/release/louver /louver
# The store's folder belongs to whoever runs it: there is no shell to hand it over later.
COPY --from=build --chown=65532:65532 /data /data
USER 65532:65532
WORKDIR /data
ENV XDG_DATA_HOME=/data
VOLUME /data
EXPOSE 8787
ENTRYPOINT ["/louver"]
CMD ["proxy", "--listen", "0.0.0.0:8787", "--token-env", "LOUVER_TOKEN"]
