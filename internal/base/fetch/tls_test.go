package fetch_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/tidegate/tidegate/internal/base/archive"
)

// TestProtocols fetches over TLS, by HTTP/2 where the server has it.
func TestProtocols(t *testing.T) {
	for _, c := range []struct {
		name   string
		http2  bool
		most   uint16 // the newest version of TLS that the server has
		trust  bool
		want   archive.Kind
		answer string
	}{
		{"HTTP/2", true, tls.VersionTLS13, true, archive.Responded, "HTTP/2.0 example.com"},
		{"HTTP/1.1", false, tls.VersionTLS13, true, archive.Responded, "HTTP/1.1 example.com"},
		{"TLS 1.2", true, tls.VersionTLS12, true, archive.Responded, "HTTP/2.0 example.com"},
		{"TLS 1.1", true, tls.VersionTLS11, true, archive.BadTLS, ""},
		{"a certificate that nobody knows", true, tls.VersionTLS13, false, archive.BadTLS, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.Proto, " ", r.Host) }))
			server.EnableHTTP2 = c.http2
			server.Config.ErrorLog = log.New(io.Discard, "", 0)
			server.TLS = &tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: c.most}
			server.StartTLS()
			defer server.Close()
			w := newSmall(t, nil)
			options := w.options()
			options.Dial = func(ctx context.Context, network, _ string) (net.Conn, error) {
				return (&net.Dialer{}).DialContext(ctx, network, server.Listener.Addr().String())
			}
			options.Roots = x509.NewCertPool()
			if c.trust {
				options.Roots.AddCert(server.Certificate())
			}
			got := w.get(t, options, "https://example.com/")
			if got.Kind != c.want || string(got.Last().Body) != c.answer {
				t.Errorf("%s %q (%s)", got.Kind, got.Last().Body, got.Detail)
			}
			if c.want == archive.Responded && got.Last().Address != "20.1.2.3" {
				t.Errorf("the address is %q", got.Last().Address)
			}
		})
	}
}
