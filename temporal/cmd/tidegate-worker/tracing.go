package main

import (
	"context"
	"os"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/face/cli"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.temporal.io/sdk/contrib/opentelemetry"
)

// flushTime is how long the end of the program waits for a collector.
const flushTime = 5 * time.Second

// trace sends spans of the calls and tasks of this program to the collector that the
// variables of OpenTelemetry name; without one it sends nothing. The function that it
// returns sends what is left. It returns INVALID_ARGS.
func (f *serverFlags) trace(ctx context.Context, service string) (stop func(), err error) {
	if os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT") == "" && os.Getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") == "" {
		return func() {}, nil
	}
	wrong := func(err error) error {
		return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("OTEL_EXPORTER_OTLP_ENDPOINT", nil), "spans cannot be sent as the variables of OpenTelemetry say: %w", err)
	}
	exporter, err := otlptracegrpc.New(ctx)
	if err != nil {
		return nil, wrong(err)
	}
	provider := trace.NewTracerProvider(trace.WithBatcher(exporter), trace.WithResource(resource.NewSchemaless(
		attribute.String("service.name", service), attribute.String("service.version", cli.Version()))))
	tracing, err := opentelemetry.NewTracingInterceptor(opentelemetry.TracerOptions{Tracer: provider.Tracer("tidegate")})
	if err != nil {
		return nil, wrong(err)
	}
	f.options.Trace = tracing
	return func() {
		ctx, done := context.WithTimeout(context.WithoutCancel(ctx), flushTime)
		defer done()
		_ = provider.Shutdown(ctx) // a collector that is gone stops nobody
	}, nil
}
