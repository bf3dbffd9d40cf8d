// Package proxy stands between clients and a gRPC server in tests, and answers what a
// test wants answered differently.
package proxy

import (
	"context"
	"fmt"
	"net"
	"path"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
)

// Start starts a proxy in front of a server and returns its address. Each call goes
// through answer, which has the last part of its method, and its headers in ctx; it may
// forward the call, and returns the message that is the reply.
func Start(t testing.TB, server string, answer func(ctx context.Context, method string, forward func() ([]byte, error)) ([]byte, error), options ...grpc.ServerOption) string {
	t.Helper()
	conn, err := grpc.NewClient(server, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithDefaultCallOptions(grpc.ForceCodec(raw{})))
	if err != nil {
		t.Fatal(err)
	}
	s := grpc.NewServer(append(options, grpc.ForceServerCodec(raw{}), grpc.UnknownServiceHandler(func(_ any, stream grpc.ServerStream) error {
		method, _ := grpc.MethodFromServerStream(stream)
		var request []byte
		if err := stream.RecvMsg(&request); err != nil {
			return err
		}
		reply, err := answer(stream.Context(), path.Base(method), func() (reply []byte, err error) {
			headers, _ := metadata.FromIncomingContext(stream.Context())
			err = conn.Invoke(metadata.NewOutgoingContext(stream.Context(), headers), method, &request, &reply)
			return reply, err
		})
		if err != nil {
			return err
		}
		return stream.SendMsg(&reply)
	}))...)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go s.Serve(listener)
	t.Cleanup(func() {
		s.Stop()
		conn.Close()
	})
	return listener.Addr().String()
}

// raw passes messages on as they are.
type raw struct{}

func (raw) Name() string { return "proto" }

func (raw) Marshal(v any) ([]byte, error) {
	if data, ok := v.(*[]byte); ok {
		return *data, nil
	}
	return nil, fmt.Errorf("%T is no message of the proxy", v)
}

func (raw) Unmarshal(data []byte, v any) error {
	into, ok := v.(*[]byte)
	if !ok {
		return fmt.Errorf("%T is no message of the proxy", v)
	}
	*into = append([]byte(nil), data...)
	return nil
}
