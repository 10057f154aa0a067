// Package pb is the generated form of proto/perfetto.proto. Tests decode files with it; the writer and the reader in
// internal/perfetto work on the wire format and do not use it.
package pb

//go:generate sh -c "cd ../../.. && go build -o ./.protoc-gen-go google.golang.org/protobuf/cmd/protoc-gen-go && protoc --plugin=protoc-gen-go=./.protoc-gen-go --proto_path=proto --go_out=. --go_opt=module=overlay perfetto.proto; s=$?; rm -f ./.protoc-gen-go; exit $s"
