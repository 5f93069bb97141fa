# SPDX-License-Identifier: Apache-2.0
# Builds with the official Swift image for Debian 12; the result holds the two programs and the libraries they load.
FROM swift:6.3-bookworm AS build
RUN apt-get update && apt-get install -y --no-install-recommends \
        libssl-dev libpq-dev libzip-dev libnghttp2-dev pkg-config \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /source
COPY . .
RUN swift build -c release --static-swift-stdlib --product walletorders \
    && swift build -c release --static-swift-stdlib --product walletsim \
    && install -D -t /out "$(swift build -c release --static-swift-stdlib --show-bin-path)/walletorders" \
        "$(swift build -c release --static-swift-stdlib --show-bin-path)/walletsim"

FROM debian:bookworm-slim
# PostgreSQL is for 'walletorders run' only; serve and worker use the one that they are given.
RUN apt-get update && apt-get install -y --no-install-recommends \
        ca-certificates libssl3 libpq5 libzip4 libnghttp2-14 \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --uid 10001 --home-dir /var/lib/walletorders --create-home walletorders
COPY --from=build /out/ /usr/local/bin/
USER walletorders
ENV WALLETORDERS_DATA_DIR=/var/lib/walletorders
VOLUME /var/lib/walletorders
EXPOSE 8080 8081 8082
ENTRYPOINT ["/usr/local/bin/walletorders"]
CMD ["serve"]
