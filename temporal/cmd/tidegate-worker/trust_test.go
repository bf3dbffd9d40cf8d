package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/agent/engine"
	"github.com/tidegate/tidegate/temporal"
	"github.com/tidegate/tidegate/temporal/internal/proxy"
	"github.com/tidegate/tidegate/temporal/server"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"
	grpcstatus "google.golang.org/grpc/status"
)

const (
	apiKey     = "the-key-that-nobody-may-see"
	serverName = "temporal.invalid" // in the certificate of the guarded server
)

// authority signs certificates.
type authority struct {
	t    *testing.T
	dir  string // of its files
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{t: t, dir: t.TempDir()}
	a.cert, a.key = a.sign("ca", &x509.Certificate{IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign})
	return a
}

// sign makes a certificate from a template, its own for the first one, and the files
// NAME.pem and NAME.key.
func (a *authority) sign(name string, template *x509.Certificate) (*x509.Certificate, *ecdsa.PrivateKey) {
	a.t.Helper()
	must := func(err error) {
		if err != nil {
			a.t.Helper()
			a.t.Fatal(err)
		}
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(err)
	template.SerialNumber, template.Subject = big.NewInt(time.Now().UnixNano()), pkix.Name{CommonName: name}
	template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(24*time.Hour)
	parent, signer := a.cert, a.key
	if parent == nil {
		parent, signer = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	must(err)
	cert, err := x509.ParseCertificate(der)
	must(err)
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	must(err)
	must(os.WriteFile(a.file(name+".pem"), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600))
	must(os.WriteFile(a.file(name+".key"), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), 0o600))
	return cert, key
}

func (a *authority) file(name string) string { return filepath.Join(a.dir, name) }

// guarded puts TLS in front of a server, asks for a client certificate of the
// authority and for an API key, and returns the address.
func (a *authority) guarded(address string, key *atomic.Pointer[string]) string {
	a.t.Helper()
	a.sign("server", &x509.Certificate{DNSNames: []string{serverName}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}})
	pair, err := tls.LoadX509KeyPair(a.file("server.pem"), a.file("server.key"))
	if err != nil {
		a.t.Fatal(err)
	}
	clients := x509.NewCertPool()
	clients.AddCert(a.cert)
	return proxy.Start(a.t, address, func(ctx context.Context, _ string, forward func() ([]byte, error)) ([]byte, error) {
		if headers, _ := metadata.FromIncomingContext(ctx); !slices.Equal(headers.Get("authorization"), []string{"Bearer " + *key.Load()}) {
			return nil, grpcstatus.Error(codes.Unauthenticated, "the key is wrong")
		}
		return forward()
	}, grpc.Creds(credentials.NewTLS(&tls.Config{Certificates: []tls.Certificate{pair}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: clients})))
}

// TestGuardedServer reaches a server that asks for a client certificate and an API key
// with the flags of a person, and without each of them.
func TestGuardedServer(t *testing.T) {
	for _, name := range []string{"API_KEY", "TLS", "TLS_CLIENT_CERT_PATH", "TLS_CLIENT_KEY_PATH", "TLS_SERVER_CA_CERT_PATH", "TLS_SERVER_NAME", "NAMESPACE"} {
		t.Setenv("TEMPORAL_"+name, "")
	}
	s, err := server.Start(server.Options{Namespace: "default"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Stop() })
	ours, others := newAuthority(t), newAuthority(t)
	var asked atomic.Pointer[string]
	asked.Store(new(apiKey))
	address := ours.guarded(s.Address, &asked)
	for _, a := range []*authority{ours, others} {
		a.sign("client", &x509.Certificate{ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
	}
	key, wrong := filepath.Join(t.TempDir(), "api.key"), filepath.Join(t.TempDir(), "api.key")
	for file, text := range map[string]string{key: apiKey + "\n", wrong: apiKey + "-of-another"} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	right := map[string]string{"address": address, "tls-ca": ours.file("ca.pem"), "tls-cert": ours.file("client.pem"), "tls-key": ours.file("client.key"),
		"tls-server-name": serverName, "api-key": key}

	t.Run("refused", func(t *testing.T) {
		for _, test := range []struct {
			name   string
			change map[string]string
			code   tidegate.Code
		}{
			{"no certificate", map[string]string{"tls-cert": "", "tls-key": ""}, tidegate.InvalidState},
			{"a certificate of another", map[string]string{"tls-cert": others.file("client.pem"), "tls-key": others.file("client.key")}, tidegate.InvalidState},
			{"a key of another certificate", map[string]string{"tls-key": others.file("client.key")}, tidegate.InvalidArgs},
			{"a certificate without a key", map[string]string{"tls-key": ""}, tidegate.InvalidArgs},
			{"a server of another", map[string]string{"tls-ca": others.file("ca.pem")}, tidegate.InvalidState},
			{"the system's authorities", map[string]string{"tls-ca": ""}, tidegate.InvalidState},
			{"a server of another name", map[string]string{"tls-server-name": ""}, tidegate.InvalidState},
			{"an API key without TLS", map[string]string{"tls-ca": "", "tls-cert": "", "tls-key": "", "tls-server-name": ""}, tidegate.InvalidArgs},
			{"no TLS", map[string]string{"tls-ca": "", "tls-cert": "", "tls-key": "", "tls-server-name": "", "api-key": ""}, tidegate.InvalidState},
			{"no API key", map[string]string{"api-key": ""}, tidegate.InvalidState},
			{"a wrong API key", map[string]string{"api-key": wrong}, tidegate.InvalidState},
			{"a file that is not there", map[string]string{"api-key": key + ".gone"}, tidegate.FileNotFound},
		} {
			t.Run(test.name, func(t *testing.T) {
				connection, err := connectBy(t.Context(), right, test.change)
				if err == nil {
					connection.Close()
				}
				if tidegate.CodeOf(err) != test.code {
					t.Errorf("%v, want %s", err, test.code)
				}
				for ; err != nil; err = errors.Unwrap(err) {
					if strings.Contains(err.Error(), apiKey) {
						t.Errorf("the error shows the key: %v", err)
					}
				}
			})
		}
	})

	connection, err := connectBy(t.Context(), right, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()

	// The key is replaced, first on the server and then in the file.
	replaced := apiKey + "-replaced"
	asked.Store(&replaced)
	if _, err := connection.Client.CheckHealth(t.Context(), nil); err == nil {
		t.Error("the old key is still taken")
	}
	for _, text := range []string{replaced, ""} { // the empty file is one that is being written
		if err := os.WriteFile(key, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := connection.Client.CheckHealth(t.Context(), nil); err != nil {
			t.Errorf("the key in the file is not read again: %v", err)
		}
	}
	asked.Store(new(apiKey))
	if err := os.WriteFile(key, []byte(apiKey), 0o600); err != nil {
		t.Fatal(err)
	}

	pool := &temporal.Pool{Connection: connection, Program: "test", Local: &engine.Local{},
		Agent: func(string) string { return "exec" }}
	// The agent shows all that it could know of the key.
	agent := filepath.Join(t.TempDir(), "agent")
	if err := os.WriteFile(agent, []byte("#!/bin/sh\necho answered\nenv\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	var flags []string
	for _, name := range []string{"tls-ca", "tls-cert", "tls-key", "tls-server-name"} {
		flags = append(flags, "--"+name, right[name])
	}
	flags = append(flags, "--agent", "exec:"+agent)
	for _, way := range []struct {
		name  string
		env   []string
		flags []string
	}{
		{"file", nil, []string{"--api-key", key}},
		{"environment", []string{"TEMPORAL_API_KEY=" + apiKey}, nil},
	} {
		w := beginWorker(t, address, way.env, append(flags, append(way.flags, "--queue", way.name)...)...)
		pool.Queue = func(string) string { return way.name }
		answer, err := pool.Do(t.Context(), driver.Task{ID: "sha256:" + way.name, Job: "job", Attempt: 1, Turn: 1, Prompt: "prompt", Role: "researcher",
			Limits: driver.Limits{Deadline: time.Minute}}, func(driver.Event) {})
		if err != nil || !strings.HasPrefix(answer.Text, "answered\n") {
			t.Fatalf("%s: %q, %v", way.name, answer.Text, err)
		}
		var arguments []byte // as others see them
		if runtime.GOOS == "linux" {
			if arguments, err = os.ReadFile(filepath.Join("/proc", strconv.Itoa(w.cmd.Process.Pid), "cmdline")); err != nil {
				t.Fatal(err)
			}
		}
		w.signal(syscall.SIGTERM)
		w.ends()
		for where, text := range map[string]string{"agent": answer.Text, "arguments": string(arguments), "output": w.text()} {
			if strings.Contains(text, apiKey) {
				t.Errorf("%s: the key is in the %s of the worker:\n%s", way.name, where, text)
			}
		}
	}
	w := begin(t, []string{"TEMPORAL_API_KEY=" + apiKey + "-of-another"}, append(flags, "--address", address)...)
	if status := w.ends(); status == 0 || strings.Contains(w.text(), apiKey) || !strings.Contains(w.text(), "the key is wrong") {
		t.Errorf("exit status %d:\n%s", status, w.text())
	}
}

// TestServerOfTheEnvironment connects to what the variables name where no flag does,
// and to what a flag names otherwise.
func TestServerOfTheEnvironment(t *testing.T) {
	s, err := server.Start(server.Options{Namespace: "of-the-team"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Stop() })
	for _, test := range []struct {
		name, address, namespace string
		flags                    map[string]string
		connects                 bool
	}{
		{"both by variables", s.Address, "of-the-team", nil, true},
		{"both by flags", "127.0.0.1:1", "nowhere", map[string]string{"address": s.Address, "namespace": "of-the-team"}, true},
		{"another address", "127.0.0.1:1", "of-the-team", nil, false},
		{"another namespace", s.Address, "nowhere", nil, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Setenv("TEMPORAL_ADDRESS", test.address)
			t.Setenv("TEMPORAL_NAMESPACE", test.namespace)
			connection, err := connectBy(t.Context(), test.flags, nil)
			if err != nil && test.connects {
				t.Fatal(err)
			}
			if err == nil {
				defer connection.Close()
				_, err = connection.Client.DescribeWorkflowExecution(t.Context(), "none", "")
			}
			if there := strings.Contains(err.Error(), "workflow not found"); there != test.connects {
				t.Errorf("the namespace is there: %v: %v", there, err)
			}
		})
	}
}

// connectBy connects by the flags of a person, with some of them changed.
func connectBy(ctx context.Context, flags, change map[string]string) (*temporal.Connection, error) {
	f := &serverFlags{}
	for _, setting := range f.settings() {
		value, changed := change[setting.Name]
		if !changed {
			value = flags[setting.Name]
		}
		setting.Set(value)
	}
	return f.connect(ctx)
}

// TestCertificateIsReadAgain replaces the certificate of a client while it is connected:
// its next connection has the later one.
func TestCertificateIsReadAgain(t *testing.T) {
	s, err := server.Start(server.Options{Namespace: "default"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Stop() })
	a := newAuthority(t)
	a.sign("server", &x509.Certificate{DNSNames: []string{serverName}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}})
	pair, err := tls.LoadX509KeyPair(a.file("server.pem"), a.file("server.key"))
	if err != nil {
		t.Fatal(err)
	}
	clients := x509.NewCertPool()
	clients.AddCert(a.cert)
	seen := make(chan string, 100)
	address := proxy.Start(t, s.Address, func(_ context.Context, _ string, forward func() ([]byte, error)) ([]byte, error) { return forward() },
		grpc.KeepaliveParams(keepalive.ServerParameters{MaxConnectionAge: time.Millisecond, MaxConnectionAgeGrace: time.Minute}),
		grpc.Creds(credentials.NewTLS(&tls.Config{Certificates: []tls.Certificate{pair}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: clients,
			VerifyConnection: func(state tls.ConnectionState) error {
				select {
				case seen <- state.PeerCertificates[0].SerialNumber.String():
				default:
				}
				return nil
			}})))
	sign := func() string {
		cert, _ := a.sign("client", &x509.Certificate{ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
		return cert.SerialNumber.String()
	}
	sign()
	connection, err := temporal.Connect(t.Context(), temporal.Options{Address: address, Namespace: "default", TLSCA: a.file("ca.pem"), TLSCert: a.file("client.pem"),
		TLSKey: a.file("client.key"), TLSServerName: serverName, Wait: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	later := sign()
	until(t, "a connection has the later certificate", func() bool {
		connection.Client.CheckHealth(t.Context(), nil) // one that falls between two connections fails
		for len(seen) > 0 {
			if <-seen == later {
				return true
			}
		}
		return false
	})
}
