package web

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/dispatch"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/user"
	"github.com/tidegate/tidegate/internal/face/guard"
	"github.com/tidegate/tidegate/internal/rule/foreign"
	"github.com/tidegate/tidegate/internal/work/reporting"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/stage"
	"github.com/tidegate/tidegate/tool"
)

// apiPath is where the HTTP API lies: what programs of a team ask for, with the bearer
// token of a user or by the word of the proxy. Each operation is declared as tools are, so
// that arguments, results and errors are theirs. Cookies do not count here, so that no page
// of another site can have a browser send something.
const apiPath = "/api/v1"

// operation is one of the API. Those that start work take the role work.
type operation struct {
	method, path string
	tool         *tool.Tool
}

// ofRun names the run that the path of an operation is about.
type ofRun struct {
	Run string `json:"run" jsonschema:"the id of the run"`
}

type startOut struct {
	OK    codec.True `json:"ok"`
	RunID string     `json:"run_id"`
}

type reportIn struct {
	Run    string `json:"run" jsonschema:"the id of the run"`
	Format string `json:"format,omitzero" jsonschema:"how the report is written" enum:"markdown,html,csl-json,bibtex,ris" default:"markdown"`
}

type reportOut struct {
	OK     codec.True `json:"ok"`
	RunID  string     `json:"run_id"`
	Format string     `json:"format"`
	Report string     `json:"report"`
}

type auditIn struct {
	Report  string `json:"report" jsonschema:"the report itself, in Markdown or HTML"`
	NoFetch bool   `json:"no_fetch,omitzero" jsonschema:"fetch nothing, and judge only how the report cites"`
}

// operations are those of a site. What it does not allow is refused.
func (s *Site) operations() []operation {
	spec := func(name, summary string, effect tool.Effect) tool.Spec {
		return tool.Spec{Name: name, Set: "run", Summary: summary, Effect: effect}
	}
	notAllowed := tidegate.Errorf(tidegate.NotAPerson, nil, "you may not start work here: that takes the role work, and a server with --allow-work")
	return []operation{
		{"GET", "/runs", tool.New(spec("run_list", "The runs, the one that was updated last first.", tool.Reads), func(ctx context.Context, _ tool.Caller, in run.ListInput) (run.ListResult, error) {
			return run.List(ctx, s.Desk, s.Home, in)
		})},
		{"POST", "/runs", tool.New(spec("run_start", "Start a run. Its planner works at once; the rest waits until a person confirms the plan on the page of the run.", tool.Writes), func(ctx context.Context, _ tool.Caller, in dispatch.Question) (startOut, error) {
			if s.Background == nil {
				return startOut{}, notAllowed
			}
			id, err := s.Background.Begin(context.WithoutCancel(ctx), in)
			return startOut{RunID: id}, err
		})},
		{"GET", "/runs/{run}", tool.New(spec("run_status", "How a run stands, and what it waits for.", tool.Reads), func(ctx context.Context, _ tool.Caller, in ofRun) (stage.StatusResult, error) {
			manifest, err := s.manifestOf(in.Run)
			if err != nil {
				return stage.StatusResult{}, err
			}
			return stage.Status(ctx, s.Desk, manifest)
		})},
		{"GET", "/runs/{run}/report", tool.New(spec("run_report", "The report of a completed run, or its sources.", tool.Reads), s.exportedReport)},
		{"POST", "/audits", tool.New(spec("report_audit", "Hold a report against the pages that it cites, as the tool of that name does.", tool.Writes), func(ctx context.Context, _ tool.Caller, in auditIn) (foreign.Result, error) {
			if s.Background == nil {
				return foreign.Result{}, notAllowed
			}
			return s.Audit(ctx, in.Report, in.NoFetch)
		})},
	}
}

func (s *Site) exportedReport(ctx context.Context, _ tool.Caller, in reportIn) (reportOut, error) {
	manifest, err := s.manifestOf(in.Run)
	if err != nil {
		return reportOut{}, err
	}
	r, err := run.Open(ctx, s.Desk, manifest)
	if err != nil {
		return reportOut{}, err
	}
	defer r.Close()
	reported, err := reporting.ReadReport(ctx, r, false, "tidegate "+s.Version)
	if err != nil {
		return reportOut{}, err
	}
	data, err := reported.Export(ctx, in.Format, nil)
	return reportOut{RunID: r.ID(), Format: in.Format, Report: string(data)}, err
}

func (s *Site) manifestOf(id string) (string, error) {
	if run.CheckID(id) != nil {
		return "", tidegate.Errorf(tidegate.FileNotFound, nil, "there is no run of that name")
	}
	return filepath.Join(s.Home, id, run.ManifestFile), nil
}

// maxCall bounds what a call of the API may send.
const maxCall = 4 << 20

// apiRoutes are the operations, and the document that describes them.
func (s *server) apiRoutes(mux *http.ServeMux) {
	allowed := map[string][]string{} // methods, by path
	for _, op := range s.site.operations() {
		mux.HandleFunc(op.method+" "+apiPath+op.path, func(w http.ResponseWriter, r *http.Request) { s.callAPI(w, r, op) })
	}
	for _, op := range append(s.site.operations(), operation{"GET", "/openapi.json", nil}) {
		if _, taken := allowed[op.path]; !taken {
			mux.HandleFunc(apiPath+op.path, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Allow", strings.Join(allowed[op.path], ", "))
				guard.SendProblem(w, http.StatusMethodNotAllowed, tidegate.Errorf(tidegate.InvalidArgs, nil, "this address takes %s", strings.Join(allowed[op.path], ", ")))
			})
		}
		allowed[op.path] = append(allowed[op.path], op.method)
	}
	mux.HandleFunc("GET "+apiPath+"/openapi.json", func(w http.ResponseWriter, _ *http.Request) {
		data, err := codec.MarshalFile(OpenAPI())
		if err != nil {
			http.Error(w, "the document cannot be made", http.StatusInternalServerError)
			return
		}
		sendJSON(w, http.StatusOK, data)
	})
}

// callAPI answers with the envelope of a tool.
func (s *server) callAPI(w http.ResponseWriter, r *http.Request, op operation) {
	args, status, problem := s.apiArguments(w, r, op)
	if problem != "" {
		http.Error(w, problem, status)
		return
	}
	if op.method == http.MethodPost {
		select {
		case s.uploads <- struct{}{}:
			defer func() { <-s.uploads }()
		default:
			http.Error(w, "other calls are under way: try again in a moment", http.StatusServiceUnavailable)
			return
		}
	}
	result := op.tool.Call(r.Context(), args, tool.Caller{Reach: artifact.Within(s.site.Home), Panicked: func(value any, stack []byte) {
		slog.Error("a call panicked", "call", op.tool.Name, "value", value, "stack", string(stack))
	}})
	status = http.StatusOK
	if result.Err != nil {
		if status = statusOf(result.Err.Code); tidegate.ClassOf(result.Err.Code) == tidegate.Denied {
			status = http.StatusForbidden
		}
	}
	sendJSON(w, status, append(result.Envelope, '\n'))
}

// apiArguments are those of a call: its body, or what stands in its address.
func (s *server) apiArguments(w http.ResponseWriter, r *http.Request, op operation) (args []byte, status int, problem string) {
	if op.method == http.MethodPost {
		if !guard.IsJSON(r.Header) {
			return nil, http.StatusUnsupportedMediaType, "a call is JSON"
		}
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxCall))
		if err != nil {
			return nil, http.StatusRequestEntityTooLarge, "the call is too large, or was not sent to its end"
		}
		return body, 0, ""
	}
	object := codec.NewObject()
	for name, values := range r.URL.Query() {
		object.Set(name, codec.Of(strings.Join(values, ",")))
	}
	if id := r.PathValue("run"); id != "" {
		object.Set("run", codec.Of(id))
	}
	args, err := codec.MarshalLine(object)
	if err != nil {
		return nil, http.StatusBadRequest, "the address is not text"
	}
	return args, 0, ""
}

func sendJSON(w http.ResponseWriter, status int, data []byte) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Content-Security-Policy", guard.TextPolicy)
	w.WriteHeader(status)
	_, _ = w.Write(data)
}

// OpenAPI describes the HTTP API, from the declarations of its operations.
func OpenAPI() *codec.Value {
	paths := codec.NewObject()
	for _, op := range (&Site{}).operations() {
		described := tidegate.Pairs("operationId", op.tool.Name, "summary", op.tool.Summary)
		input := op.tool.InputSchema()
		if op.method == http.MethodPost {
			described = append(described, tidegate.Pairs("description", "It takes the role "+string(user.Work)+".", "requestBody", tidegate.Pairs("required", true, "content", jsonContent(input)))...)
		} else {
			described = append(described, tidegate.Pairs("parameters", parametersOf(op, input))...)
		}
		described = append(described, tidegate.Pairs("responses", tidegate.Pairs(
			"200", tidegate.Pairs("description", "the result", "content", jsonContent(op.tool.OutputSchema())),
			"default", tidegate.Pairs("description", "what is wrong", "content", jsonContent(codec.Of(tidegate.Pairs("$ref", "#/components/schemas/Error"))))))...)
		at := paths.Get(apiPath + op.path)
		if at.Kind() != codec.Object {
			at = codec.NewObject()
		}
		at.Set(strings.ToLower(op.method), codec.Of(described))
		paths.Set(apiPath+op.path, at)
	}
	text := tidegate.Pairs("type", "string")
	return codec.Of(tidegate.Pairs("openapi", "3.1.0",
		"info", tidegate.Pairs("title", "tidegate", "version", "1", "description", "Start runs, look at them, read their reports, and audit reports of others, for those whom `tidegate serve user add` lets in."),
		"security", []any{tidegate.Pairs("token", []string{})}, "paths", paths,
		"components", tidegate.Pairs("securitySchemes", tidegate.Pairs("token", tidegate.Pairs("type", "http", "scheme", "bearer")),
			"schemas", tidegate.Pairs("Error", tidegate.Pairs("type", "object", "required", []string{"ok", "error"}, "properties", tidegate.Pairs("ok", tidegate.Pairs("const", false),
				"error", tidegate.Pairs("type", "object", "required", []string{"code", "message", "details"}, "properties", tidegate.Pairs("code", text, "message", text, "details", tidegate.Pairs("type", "object")))))))))
}

func jsonContent(schema *codec.Value) tidegate.Details {
	return tidegate.Pairs("application/json", tidegate.Pairs("schema", schema))
}

// parametersOf are the arguments of an operation that stand in its address.
func parametersOf(op operation, input *codec.Value) []any {
	out := []any{}
	required := input.Get("required").Strs()
	for _, m := range input.Get("properties").Members() {
		in := "query"
		if strings.Contains(op.path, "{"+m.Key+"}") {
			in = "path"
		}
		out = append(out, tidegate.Pairs("name", m.Key, "in", in, "required", slices.Contains(required, m.Key), "schema", m.Value))
	}
	return out
}
