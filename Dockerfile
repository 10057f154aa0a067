# The image of a release: goreleaser puts the program for each platform beside this file. To use it:
#   docker run --rm -v "$PWD:/traces" overlay run -i /traces/trace.json.gz -o /traces/overlaid.pftrace
FROM scratch
ARG TARGETPLATFORM
COPY LICENSE dist-extra/THIRD_PARTY_LICENCES.txt /
COPY $TARGETPLATFORM/overlay /overlay
ENTRYPOINT ["/overlay"]
