package main

import (
	"cmp"
	"context"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/config"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/face/cli"
	"github.com/tidegate/tidegate/temporal"
	"github.com/tidegate/tidegate/tool"
)

// serverFlags are what a person says about the server and the way there. Those with
// a variable in the environment have the names that other programs of Temporal use.
type serverFlags struct {
	options   temporal.Options
	queue     string
	lostAfter string
	patience  string
	priority  string
	metrics   string
	typed     map[string]string // the words of flags, by their names
	stop      func()            // ends what a home serves and sends
}

// roles are those that may have a queue of their own.
var roles = slices.DeleteFunc(slices.Clone(config.Roles), func(role string) bool { return role == config.DefaultRole })

const defaultQueue = "tidegate"

func (f *serverFlags) settings() []cli.Setting {
	home := []string{"research", "run continue", "review run", "change run"}
	both := append([]string{"work"}, home...)
	o := &f.options
	word := func(name, about string, under []string, to *string) cli.Setting {
		return cli.Setting{Name: name, About: about, Under: under, Set: func(value string) { *to = value }}
	}
	file := func(name, about string, to *string) cli.Setting {
		return cli.Setting{Name: name, About: about, Under: both, Kind: tool.PathFlag, Set: func(value string) { *to = value }}
	}
	settings := []cli.Setting{
		word("address", "the Temporal server, `HOST:PORT` (default $TEMPORAL_ADDRESS, else 127.0.0.1:7233)", both, &o.Address),
		word("namespace", "the namespace there (default $TEMPORAL_NAMESPACE, else default)", both, &o.Namespace),
		word("queue", "the queue of the workers; for a home also ROLE=QUEUE, several separated by commas (default tidegate)", both, &f.queue),
		{Name: "tls", About: "speak TLS (default where a file for it is named)", Under: both, Kind: tool.Switch, Set: func(value string) { o.TLS = value == "true" }},
		file("tls-cert", "a `file` with a client certificate (default $TEMPORAL_TLS_CLIENT_CERT_PATH)", &o.TLSCert),
		file("tls-key", "the `file` of its key (default $TEMPORAL_TLS_CLIENT_KEY_PATH)", &o.TLSKey),
		file("tls-ca", "a `file` with the authorities of the server's certificate (default $TEMPORAL_TLS_SERVER_CA_CERT_PATH, else those of the system)", &o.TLSCA),
		word("tls-server-name", "the name in the server's certificate (default $TEMPORAL_TLS_SERVER_NAME, else the host)", both, &o.TLSServerName),
		file("api-key", "a `file` with the server's API key (default the key in $TEMPORAL_API_KEY)", &o.APIKey),
		file("payload-key", "a `file` with the key that encrypts prompts and answers: the server cannot read them", &o.PayloadKey),
		word("storage", "where messages go that are too large for the server: `s3://BUCKET/PREFIX`", both, &o.Storage),
		word("lost-after", "how `long` a worker may be silent before its tasks begin again elsewhere (default 60s)", home, &f.lostAfter),
		word("patience", "how `long` a task waits for a worker, or the home for a server that is gone (default 10m)", home, &f.patience),
		word("priority", "how urgent the tasks of this run are among those of others, from `1` to 5 (default 3)", home, &f.priority),
		word("metrics", "serve metrics for Prometheus at this `HOST:PORT` (default off)", both, &f.metrics),
	}
	f.typed = map[string]string{}
	for i, each := range settings {
		settings[i].Set = func(value string) {
			f.typed[each.Name] = value
			each.Set(value)
		}
	}
	return settings
}

// again are the flags by which a home reaches its workers once more, with a blank before
// each. The server and the queue are named even where nobody typed them.
func (f *serverFlags) again() string {
	again := " --address " + report.ShellWord(f.address()) + " --queue " + report.ShellWord(cmp.Or(f.queue, defaultQueue))
	for _, name := range slices.Sorted(maps.Keys(f.typed)) {
		switch value := f.typed[name]; {
		case value == "" || name == "address" || name == "queue":
		case name == "tls" && value == "true":
			again += " --tls"
		case name != "tls":
			again += " --" + name + " " + report.ShellWord(value)
		}
	}
	return again
}

// connect connects to the server that flags and environment name.
func (f *serverFlags) connect(ctx context.Context) (*temporal.Connection, error) {
	o := f.options
	fill := func(to *string, variable, otherwise string) {
		if *to == "" {
			*to = os.Getenv(variable)
		}
		if *to == "" {
			*to = otherwise
		}
	}
	fill(&o.Address, "TEMPORAL_ADDRESS", "127.0.0.1:7233")
	fill(&o.Namespace, "TEMPORAL_NAMESPACE", "default")
	fill(&o.TLSCert, "TEMPORAL_TLS_CLIENT_CERT_PATH", "")
	fill(&o.TLSKey, "TEMPORAL_TLS_CLIENT_KEY_PATH", "")
	fill(&o.TLSCA, "TEMPORAL_TLS_SERVER_CA_CERT_PATH", "")
	fill(&o.TLSServerName, "TEMPORAL_TLS_SERVER_NAME", "")
	if said := os.Getenv("TEMPORAL_TLS"); said != "" && !o.TLS {
		// A word that is not understood must not lead to a connection that anybody reads.
		on, err := strconv.ParseBool(said)
		if err != nil {
			return nil, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("TEMPORAL_TLS", tidegate.Cut(said)), "TEMPORAL_TLS must be true or false, got %q", tidegate.Cut(said))
		}
		o.TLS = on
	}
	o.APIKeyText = os.Getenv("TEMPORAL_API_KEY")
	return temporal.Connect(ctx, o)
}

// address is the server, in words.
func (f *serverFlags) address() string {
	for _, address := range []string{f.options.Address, os.Getenv("TEMPORAL_ADDRESS")} {
		if address != "" {
			return address
		}
	}
	return "127.0.0.1:7233"
}

// queues are the queues by role; "" is that of all other roles. It returns
// INVALID_ARGS.
func (f *serverFlags) queues() (map[string]string, error) {
	queues := map[string]string{"": defaultQueue}
	if f.queue == "" {
		return queues, nil
	}
	for _, part := range strings.Split(f.queue, ",") {
		role, queue, named := strings.Cut(part, "=")
		if !named {
			role, queue = "", part
		}
		if named && !slices.Contains(roles, role) {
			return nil, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("queue", tidegate.Cut(f.queue)), "%q is not a role; the roles are %s",
				tidegate.Cut(role), strings.Join(roles, ", "))
		}
		if err := checkQueue(queue); err != nil {
			return nil, err
		}
		queues[role] = queue
	}
	return queues, nil
}

// checkQueue returns INVALID_ARGS for a name that no queue can have.
func checkQueue(queue string) error {
	if queue == "" || len(queue) > 200 || strings.ContainsFunc(queue, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_')
	}) {
		return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("queue", tidegate.Cut(queue)), "%q is not the name of a queue; expected letters, digits, - and _", tidegate.Cut(queue))
	}
	return nil
}

// urgency reads --priority; 0 where it was not given. It returns INVALID_ARGS.
func (f *serverFlags) urgency() (int, error) {
	if f.priority == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(f.priority)
	if err != nil || n < 1 || n > 5 {
		return 0, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("priority", tidegate.Cut(f.priority)), "--priority must be a number from 1 to 5, got %q", tidegate.Cut(f.priority))
	}
	return n, nil
}

// duration reads a flag that says how long; 0 where it was not given.
func duration(flag, text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return 0, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs(flag, tidegate.Cut(text)), "--%s must be a time such as 90s or 10m, got %q", flag, tidegate.Cut(text))
	}
	return d, nil
}
