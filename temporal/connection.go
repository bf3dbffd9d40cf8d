package temporal

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"strings"
	"sync"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	failurepb "go.temporal.io/api/failure/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Options say how a server is reached. Secrets are named by their files, and read
// from there.
type Options struct {
	Address   string // HOST:PORT
	Namespace string

	TLS           bool   // speak TLS, even without a certificate of our own
	TLSCert       string // the file of a client certificate
	TLSKey        string // the file of its key
	TLSCA         string // the file of the authorities that the server's certificate may come from; "" for those of the system
	TLSServerName string // in the server's certificate, where that is not the host of Address

	APIKey     string // the file of an API key; "" for APIKeyText
	APIKeyText string // an API key from the environment
	PayloadKey string // the file of keys that encrypt payloads; "" sends them readable
	Storage    string // where messages go that are too large for the server, s3://BUCKET/PREFIX; "" for nowhere

	// Wait is how long a server that is away is waited for; 0: not at all.
	Wait time.Duration
	// Waiting is called once where it is waited for; nil for none.
	Waiting func(error)

	Metrics client.MetricsHandler         // nil for none
	Trace   interceptor.ClientInterceptor // of calls and tasks; nil for none
	Log     log.Logger                    // nil for none
}

// Connection is a connection to a server.
type Connection struct {
	Client client.Client

	address   string
	namespace string
	secret    bool // payloads are encrypted: the server is told no names
	converter converter.DataConverter
	parcels   parcels
}

// Connect connects to a server. It returns INVALID_ARGS for options that are wrong,
// the errors of reading files, and INVALID_STATE where the server does not answer
// for as long as o.Wait says.
func Connect(ctx context.Context, o Options) (*Connection, error) {
	options, err := o.client(ctx)
	if err != nil {
		return nil, err
	}
	c := &Connection{address: o.Address, namespace: o.Namespace, secret: o.PayloadKey != "", converter: options.DataConverter,
		parcels: parcels{options.DataConverter, len(options.ExternalStorage.Drivers) > 0}}
	for until, said := time.Now().Add(o.Wait), false; ; {
		if c.Client, err = client.DialContext(ctx, options); err == nil {
			return c, nil
		}
		if ctx.Err() != nil || !away(err) || time.Now().After(until) {
			return nil, c.failed(err)
		}
		if !said && o.Waiting != nil {
			o.Waiting(c.failed(err))
		}
		said = true
		select {
		case <-ctx.Done():
		case <-time.After(askAgain):
		}
	}
}

// away reports whether an error is that of a server that may come back. One whose
// certificate is wrong, or that does not take ours, is there.
func away(err error) bool {
	return unreachable(err) && !strings.Contains(err.Error(), "authentication handshake failed")
}

// Close ends the connection.
func (c *Connection) Close() { c.Client.Close() }

// failed says which server an error is about.
func (c *Connection) failed(err error) error {
	return tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("address", c.address, "namespace", c.namespace, "help", "tidegate-temporal-dev"),
		"the Temporal server at %s, namespace %s, does not answer as expected: %w; `tidegate-temporal-dev` starts one for trying out", c.address, c.namespace, err)
}

// How often a connection that is quiet is tried, and how long it may take to answer.
// Servers refuse to be asked more often than every ten seconds.
const (
	aliveInterval = 15 * time.Second
	aliveTimeout  = 5 * time.Second
)

// broken has a call tried again whose answer was lost on its way: a proxy that is
// replaced or fails in the middle of one is an internal error to gRPC, or a call that
// nobody cancelled. Every call may be made twice. What this side's own library finds
// wrong with a message stays wrong.
func broken(ctx context.Context, method string, request, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, options ...grpc.CallOption) error {
	err := invoke(ctx, method, request, reply, conn, options...)
	code, message := status.Code(err), status.Convert(err).Message()
	if ctx.Err() == nil && (code == codes.Internal && !strings.HasPrefix(message, "grpc: ") || code == codes.Canceled) {
		return status.Error(codes.Unavailable, message)
	}
	return err
}

// undelivered takes heartbeats that did not reach the server for sent. The SDK would end
// the agent for one that takes longer than a second, and throw its work away. Whether a
// worker is lost is for the server to say: it does so with the next one that arrives.
func undelivered(ctx context.Context, method string, request, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, options ...grpc.CallOption) error {
	err := invoke(ctx, method, request, reply, conn, options...)
	if method == workflowservice.WorkflowService_RecordActivityTaskHeartbeat_FullMethodName {
		switch status.Code(err) {
		case codes.DeadlineExceeded, codes.Unavailable, codes.ResourceExhausted, codes.Canceled:
			return nil
		}
	}
	return err
}

// handed takes the end of a task by the server's clock off the task. The SDK would hold it
// against the clock of this machine: a worker that is hours ahead would drop every task
// unseen. How long a task may take is said besides, and the server keeps both.
func handed(ctx context.Context, method string, request, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, options ...grpc.CallOption) error {
	err := invoke(ctx, method, request, reply, conn, options...)
	switch reply := reply.(type) {
	case *workflowservice.PollActivityTaskQueueResponse:
		reply.ScheduleToCloseTimeout = nil
	case *workflowservice.RespondWorkflowTaskCompletedResponse: // with the first task of a workflow
		for _, task := range reply.GetActivityTasks() {
			task.ScheduleToCloseTimeout = nil
		}
	}
	return err
}

func (o Options) client(ctx context.Context) (client.Options, error) {
	options := client.Options{HostPort: o.Address, Namespace: o.Namespace, MetricsHandler: o.Metrics, Logger: o.Log}
	if options.Logger == nil {
		options.Logger = silent{}
	}
	if o.Trace != nil {
		options.Interceptors = []interceptor.ClientInterceptor{o.Trace}
	}
	var c codec
	if o.PayloadKey != "" {
		data, err := artifact.Everywhere.ReadFile("payload-key", o.PayloadKey)
		if err != nil {
			return options, err
		}
		if c.keys, err = parseKeys(o.PayloadKey, data); err != nil {
			return options, err
		}
	}
	options.DataConverter = converter.NewCodecDataConverter(converter.GetDefaultDataConverter(), c)
	options.FailureConverter = failures{temporal.NewDefaultFailureConverter(temporal.DefaultFailureConverterOptions{
		DataConverter: options.DataConverter, EncodeCommonAttributes: o.PayloadKey != "",
	})}
	apiKey := o.APIKeyText
	if o.APIKey != "" {
		key := reread[string]{read: func() (string, error) { return readAPIKey(o.APIKey) }}
		var err error
		if apiKey, err = key.get(); err != nil {
			return options, err
		}
		options.Credentials = client.NewAPIKeyDynamicCredentials(func(context.Context) (string, error) { return key.get() })
	} else if apiKey != "" {
		options.Credentials = client.NewAPIKeyStaticCredentials(apiKey)
	}
	config, err := o.tls()
	if err != nil {
		return options, err
	}
	options.ConnectionOptions.TLS = config
	// A connection that died without a word is found out before a worker counts as lost.
	options.ConnectionOptions.KeepAliveTime, options.ConnectionOptions.KeepAliveTimeout = aliveInterval, aliveTimeout
	options.ConnectionOptions.DialOptions = []grpc.DialOption{grpc.WithChainUnaryInterceptor(undelivered, handed, broken)}
	if config == nil {
		options.ConnectionOptions.TLSDisabled = true // an API key would turn it on
		if apiKey != "" {
			return options, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("tls", nil), "an API key is sent over TLS only: add --tls")
		}
	}
	if o.Storage != "" {
		driver, err := newStorage(ctx, o.Storage)
		if err != nil {
			return options, err
		}
		options.ExternalStorage = converter.ExternalStorage{Drivers: []converter.StorageDriver{driver}, PayloadSizeThreshold: maxInline}
	}
	return options, nil
}

// failures reads failures of which each may have one as its cause, and so on, all
// compressed: only as many as a home looks at.
type failures struct{ converter.FailureConverter }

const maxCauses = 8

func (f failures) FailureToError(failure *failurepb.Failure) error {
	last := failure
	for range maxCauses {
		last = last.GetCause()
	}
	if last != nil {
		last.Cause = nil
	}
	return f.FailureConverter.FailureToError(failure)
}

// tls is how TLS is spoken; nil where it is not.
func (o Options) tls() (*tls.Config, error) {
	if (o.TLSCert == "") != (o.TLSKey == "") {
		return nil, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("tls-cert", o.TLSCert, "tls-key", o.TLSKey), "--tls-cert and --tls-key belong together")
	}
	if !o.TLS && o.TLSCert == "" && o.TLSCA == "" && o.TLSServerName == "" {
		return nil, nil
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: o.TLSServerName}
	if o.TLSCert != "" {
		pair := reread[*tls.Certificate]{read: func() (*tls.Certificate, error) { return readPair(o.TLSCert, o.TLSKey) }}
		if _, err := pair.get(); err != nil {
			return nil, err
		}
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return pair.get() }
	}
	if o.TLSCA != "" {
		data, err := artifact.Everywhere.ReadFile("tls-ca", o.TLSCA)
		if err != nil {
			return nil, err
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(data) {
			return nil, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("tls-ca", o.TLSCA), "%s holds no certificate in PEM", o.TLSCA)
		}
	}
	return config, nil
}

// reread is something out of files that others replace while the program runs. It is
// read each time; while the files cannot be read, or are being written, the last one
// counts.
type reread[T any] struct {
	read func() (T, error)

	mu    sync.Mutex
	last  T
	known bool
}

func (r *reread[T]) get() (T, error) {
	found, err := r.read()
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil {
		r.last, r.known = found, true
	} else if r.known {
		err = nil
	}
	return r.last, err
}

func readAPIKey(file string) (string, error) {
	data, err := artifact.Everywhere.ReadFile("api-key", file)
	if err != nil {
		return "", err
	}
	key := strings.TrimSpace(string(data))
	if key == "" {
		return "", tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("api-key", file), "%s is empty; expected an API key", file)
	}
	return key, nil
}

func readPair(certFile, keyFile string) (*tls.Certificate, error) {
	cert, err := artifact.Everywhere.ReadFile("tls-cert", certFile)
	if err != nil {
		return nil, err
	}
	key, err := artifact.Everywhere.ReadFile("tls-key", keyFile)
	if err != nil {
		return nil, err
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("tls-cert", certFile, "tls-key", keyFile), "%s and %s are not a certificate and its key: %w", certFile, keyFile, err)
	}
	return &pair, nil
}

const idBytes = 8

// newID is an id that no other worker has.
func newID() string {
	id := make([]byte, idBytes)
	rand.Read(id)
	return hex.EncodeToString(id)
}

// silent is the logger of a program that says what matters itself.
type silent struct{}

func (silent) Debug(string, ...any) {}
func (silent) Info(string, ...any)  {}
func (silent) Warn(string, ...any)  {}
func (silent) Error(string, ...any) {}
