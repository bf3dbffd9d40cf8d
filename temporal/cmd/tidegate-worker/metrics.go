package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/uber-go/tally/v4"
	"github.com/uber-go/tally/v4/prometheus"
	"go.temporal.io/sdk/client"
	sdktally "go.temporal.io/sdk/contrib/tally"
)

// observe has metrics served and spans sent, where a person asked for that, until stop is
// called. It returns INVALID_ARGS.
func (f *serverFlags) observe(ctx context.Context, program string) (stop func(), err error) {
	untraced, err := f.trace(ctx, program)
	if err != nil || f.metrics == "" {
		return untraced, err
	}
	handler, at, unserved, err := serveMetrics(f.metrics, program)
	if err != nil {
		untraced()
		return nil, err
	}
	fmt.Fprintln(os.Stderr, "Metrics are at", at)
	f.options.Metrics = handler
	return func() {
		unserved()
		untraced()
	}, nil
}

// serveMetrics serves what the SDK counts in the form that Prometheus reads, at
// /metrics of an address, until stop is called. It returns where that is, and
// INVALID_ARGS for an address that cannot be listened on.
func serveMetrics(address, prefix string) (handler client.MetricsHandler, at string, stop func(), err error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, "", nil, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("metrics", address), "metrics cannot be served at %q: %w", address, err)
	}
	reporter := prometheus.NewReporter(prometheus.Options{})
	scope, closer := tally.NewRootScope(tally.ScopeOptions{
		CachedReporter: reporter, Separator: prometheus.DefaultSeparator, SanitizeOptions: &sdktally.PrometheusSanitizeOptions, Prefix: prefix,
	}, time.Second)
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", reporter.HTTPHandler())
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go server.Serve(listener)
	return sdktally.NewMetricsHandler(sdktally.NewPrometheusNamingScope(scope)), "http://" + listener.Addr().String() + "/metrics", func() {
		server.Close()
		closer.Close()
	}, nil
}
