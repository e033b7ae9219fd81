//go:build debian

package main

import (
	"google.golang.org/grpc/encoding"
	"google.golang.org/protobuf/proto"
)

// Debian 12 builds gRPC with a version of protobuf that cannot read current stubs. This codec can.
type codec struct{}

func init() { encoding.RegisterCodec(codec{}) }

func (codec) Name() string                        { return "proto" }
func (codec) Marshal(message any) ([]byte, error) { return proto.Marshal(message.(proto.Message)) }
func (codec) Unmarshal(data []byte, message any) error {
	return proto.Unmarshal(data, message.(proto.Message))
}
