// Package server is a Temporal server inside a program, for trying out a pool on
// one machine and for tests. It keeps everything in memory or in one file, listens
// on the loopback alone, and asks nobody who they are.
package server

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/server/chasm/lib/activity"
	"go.temporal.io/server/common/authorization"
	"go.temporal.io/server/common/cluster"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/dynamicconfig"
	"go.temporal.io/server/common/log"
	"go.temporal.io/server/common/membership/static"
	"go.temporal.io/server/common/metrics"
	sqliteplugin "go.temporal.io/server/common/persistence/sql/sqlplugin/sqlite"
	"go.temporal.io/server/common/primitives"
	"go.temporal.io/server/schema/sqlite"
	"go.temporal.io/server/temporal"
)

// Options say what server to start.
type Options struct {
	Port      int    // 0 for any
	Namespace string // the one that there is
	File      string // what is kept across starts; "" keeps it in memory
	// Old makes the server refuse standalone activities, as servers before 1.31 do.
	Old bool
}

// Server is a server that runs in this process.
type Server struct {
	Address string // HOST:PORT
	server  temporal.Server
}

const host = "127.0.0.1"

// attributes are those by which tasks can be found.
var attributes = map[string]enumspb.IndexedValueType{
	"TidegateRun": enumspb.INDEXED_VALUE_TYPE_KEYWORD, "TidegateJob": enumspb.INDEXED_VALUE_TYPE_KEYWORD, "TidegateKind": enumspb.INDEXED_VALUE_TYPE_KEYWORD,
}

// Start starts a server. It returns INVALID_STATE where that fails, for example
// because the port is taken.
func Start(o Options) (*Server, error) {
	s, err := start(o)
	if err != nil {
		return nil, tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("port", o.Port, "file", o.File), "the embedded Temporal server cannot be started: %w", err)
	}
	return s, nil
}

func start(o Options) (*Server, error) {
	ports, err := freePorts(o.Port)
	if err != nil {
		return nil, err
	}
	sql := &config.SQL{PluginName: sqliteplugin.PluginName, DatabaseName: o.File, ConnectAttributes: map[string]string{"mode": "rwc"}}
	if o.File == "" {
		sql.DatabaseName = strconv.Itoa(rand.Int())
		sql.ConnectAttributes = map[string]string{"mode": "memory", "cache": "shared"}
	} else if kept, err := artifact.Everywhere.OpenFile("file", o.File); err == nil {
		kept.Close()
	} else if tidegate.CodeOf(err) != tidegate.FileNotFound {
		return nil, err
	} else if err := sqlite.SetupSchema(sql); err != nil {
		return nil, err
	}
	settings := configuration(sql, ports)
	namespace, err := sqlite.NewNamespaceConfig(settings.ClusterMetadata.CurrentClusterName, o.Namespace, false, attributes)
	if err != nil {
		return nil, err
	}
	if err := sqlite.CreateNamespaces(sql, namespace); err != nil {
		return nil, err
	}
	logger := log.NewNoopLogger()
	server, err := temporal.NewServer(
		temporal.WithConfig(settings),
		temporal.ForServices(temporal.DefaultServices),
		temporal.WithStaticHosts(hosts(ports)),
		temporal.WithLogger(logger),
		temporal.WithAuthorizer(authorization.NewNoopAuthorizer()),
		temporal.WithClaimMapper(func(*config.Config) authorization.ClaimMapper { return authorization.NewNoopClaimMapper() }),
		temporal.WithDynamicConfigClient(dynamicconfig.StaticClient{
			dynamicconfig.ForceSearchAttributesCacheRefreshOnRead.Key(): []dynamicconfig.ConstrainedValue{{Value: true}},
			activity.Enabled.Key(): []dynamicconfig.ConstrainedValue{{Value: !o.Old}},
		}),
	)
	if err != nil {
		return nil, err
	}
	if err := server.Start(); err != nil {
		return nil, err
	}
	return &Server{Address: address(ports[0]), server: server}, nil
}

// Stop ends the server.
func (s *Server) Stop() error { return s.server.Stop() }

func address(port int) string { return net.JoinHostPort(host, strconv.Itoa(port)) }

// The services of a server, in the order of their ports. The port of the first is
// the one that clients know.
var services = []primitives.ServiceName{primitives.FrontendService, primitives.HistoryService, primitives.MatchingService, primitives.WorkerService}

func hosts(ports []int) map[primitives.ServiceName]static.Hosts {
	all := map[primitives.ServiceName]static.Hosts{}
	for i, service := range services {
		all[service] = static.SingleLocalHost(address(ports[i]))
	}
	return all
}

func configuration(sql *config.SQL, ports []int) *config.Config {
	rpc := func(i int) config.Service {
		return config.Service{RPC: config.RPC{GRPCPort: ports[i], MembershipPort: ports[i+len(services)], BindOnIP: host}}
	}
	c := &config.Config{
		Global: config.Global{
			Membership: config.Membership{MaxJoinDuration: 30 * time.Second, BroadcastAddress: host},
			Metrics:    &metrics.Config{Prometheus: &metrics.PrometheusConfig{ListenAddress: address(ports[2*len(services)]), HandlerPath: "/metrics"}},
		},
		Persistence: config.Persistence{
			DefaultStore: sqliteplugin.PluginName, VisibilityStore: sqliteplugin.PluginName, NumHistoryShards: 1,
			DataStores: map[string]config.DataStore{sqliteplugin.PluginName: {SQL: sql}},
		},
		ClusterMetadata: &cluster.Config{
			FailoverVersionIncrement: 10, MasterClusterName: "active", CurrentClusterName: "active",
			ClusterInformation: map[string]cluster.ClusterInformation{"active": {Enabled: true, InitialFailoverVersion: 1, RPCAddress: address(ports[0])}},
		},
		DCRedirectionPolicy: config.DCRedirectionPolicy{Policy: "noop"},
		Services:            map[string]config.Service{},
		Archival: config.Archival{
			History:    config.HistoryArchival{State: config.ArchivalDisabled},
			Visibility: config.VisibilityArchival{State: config.ArchivalDisabled},
		},
		PublicClient: config.PublicClient{HostPort: address(ports[0])},
		NamespaceDefaults: config.NamespaceDefaults{Archival: config.ArchivalNamespaceDefaults{
			History:    config.HistoryArchivalNamespaceDefaults{State: config.ArchivalDisabled},
			Visibility: config.VisibilityArchivalNamespaceDefaults{State: config.ArchivalDisabled},
		}},
	}
	for i, service := range services {
		c.Services[string(service)] = rpc(i)
	}
	return c
}

// Ports are taken from below those that systems give to connections: one of these could
// be gone again before the server listens on it.
const (
	lowestPort  = 10_000
	highestPort = 32_000
	portTries   = 1000
)

// freePorts are ports that nobody listens on: for each service one to serve and one
// for membership, and one for metrics. The first is the given one, unless that is 0.
func freePorts(first int) ([]int, error) {
	var ports []int
	var err error
	for tries := 0; tries < portTries && len(ports) < 2*len(services)+1; tries++ {
		port := first
		if len(ports) > 0 || first == 0 {
			port = lowestPort + rand.IntN(highestPort-lowestPort)
		}
		var listener net.Listener
		if listener, err = net.Listen("tcp", address(port)); err != nil {
			if port == first {
				return nil, fmt.Errorf("port %d: %w", port, err)
			}
			continue
		}
		defer listener.Close()
		ports = append(ports, port)
	}
	if len(ports) < 2*len(services)+1 {
		return nil, fmt.Errorf("no free port: %w", err)
	}
	return ports, nil
}
