package web_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/user"
	"github.com/tidegate/tidegate/internal/face/demo"
	"github.com/tidegate/tidegate/internal/face/web"
	"github.com/tidegate/tidegate/internal/rule/foreign"
	"github.com/tidegate/tidegate/internal/test/must"
)

// TestTheAPIAnswersAsToolsDo: by bearer tokens alone, and nothing starts where it is not
// allowed.
func TestTheAPIAnswersAsToolsDo(t *testing.T) {
	t.Parallel()
	s := demoSite(t)
	s.Users = user.List{Home: t.TempDir(), Now: s.Desk.Now}
	person := tidegate.WithActor(t.Context(), tidegate.Actor{Kind: tidegate.Person})
	reader := must.Get(s.Users.Add(person, "rita", user.Read, 0))(t)
	s.Audit = func(context.Context, string, bool) (foreign.Result, error) {
		t.Error("an audit begins where no work is allowed")
		return foreign.Result{}, nil
	}
	call := func(method, path, given, body string, headers ...string) (int, string) {
		r := httptest.NewRequest(method, "http://127.0.0.1"+path, strings.NewReader(body))
		if given != "" {
			r.Header.Set("Authorization", "Bearer "+given)
		}
		if body != "" {
			r.Header.Set("Content-Type", "application/json; charset=utf-8")
		}
		for i := 0; i+1 < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		w := httptest.NewRecorder()
		web.Handler(s, token, nil).ServeHTTP(w, r)
		return w.Code, w.Body.String()
	}
	start := `{"question":"Why?","most_usd":1}`
	for _, tt := range []struct {
		method, path, token, body string
		status                    int
		has                       string
		headers                   []string
	}{
		{"GET", "/api/v1/runs", reader, "", 200, `"harbour"`, nil},
		{"GET", "/api/v1/runs?status=failed", reader, "", 200, `"runs": []`, nil},
		{"GET", "/api/v1/runs?status=late", reader, "", 400, `INVALID_ARGS`, nil},
		{"GET", "/api/v1/runs?colour=red", reader, "", 400, `colour`, nil},
		{"GET", "/api/v1/runs/harbour", reader, "", 200, `"completed"`, nil},
		{"GET", "/api/v1/runs/nobody", reader, "", 404, `NOT_FOUND`, nil},
		{"GET", "/api/v1/runs/..%2fx", reader, "", 404, `NOT_FOUND`, nil},
		{"GET", "/api/v1/runs/harbour/report", reader, "", 200, `How this report was made`, nil},
		{"GET", "/api/v1/runs/harbour/report?format=bibtex", reader, "", 200, `@`, nil},
		{"GET", "/api/v1/runs/harbour/report?format=exe", reader, "", 400, `format`, nil},
		{"GET", "/api/v1/openapi.json", reader, "", 200, `"3.1.0"`, nil},
		{"GET", "/api/v1/runs", "", "", 401, `"code": "NOT_AUTHENTICATED"`, nil},
		{"GET", "/api/v1/runs", reader + "x", "", 401, "bearer", nil},
		{"GET", "/api/v1/runs", "", "", 401, "bearer", []string{"Cookie", "tidegate=" + token}},
		{"POST", "/api/v1/runs", reader, start, 403, `--allow-work`, nil},
		{"POST", "/api/v1/runs", token, start, 403, `--allow-work`, nil},
		{"POST", "/api/v1/audits", reader, `{"report":"x"}`, 403, `--allow-work`, nil},
		{"POST", "/api/v1/audits", reader, `{"report_path":"/etc/passwd"}`, 400, `report_path`, nil},
		{"POST", "/api/v1/audits", reader, `{`, 400, `INVALID`, nil},
		{"POST", "/api/v1/runs", reader, start, 415, "JSON", []string{"Content-Type", "application/x-www-form-urlencoded", "Origin", "http://127.0.0.1"}},
		{"POST", "/api/v1/runs", reader, start, 403, "another origin", []string{"Origin", "https://evil.example"}},
		{"DELETE", "/api/v1/runs/harbour", reader, "{}", 405, `"code": "INVALID_ARGS"`, nil},
		{"DELETE", "/api/v1/runs", reader, "", 405, "GET, POST", nil},
		{"PUT", "/api/v1/runs", reader, "{}", 405, "GET, POST", nil},
	} {
		if status, answer := call(tt.method, tt.path, tt.token, tt.body, tt.headers...); status != tt.status || !strings.Contains(answer, tt.has) {
			t.Errorf("%s %s: %d %.300s, want %d with %s", tt.method, tt.path, status, answer, tt.status, tt.has)
		}
	}
}

// TestTheAPIStartsWork: a user with the role starts a run and audits a report.
func TestTheAPIStartsWork(t *testing.T) {
	t.Parallel()
	s := working(t, t.TempDir(), recordedAgents, 20)
	s.Users = user.List{Home: t.TempDir(), Now: s.Desk.Now}
	s.Audit = func(_ context.Context, report string, noFetch bool) (foreign.Result, error) {
		return foreign.Result{AuditID: report}, nil
	}
	person := tidegate.WithActor(t.Context(), tidegate.Actor{Kind: tidegate.Person})
	tokens := map[user.Role]string{}
	for _, role := range user.Roles {
		var err error
		if tokens[role], err = s.Users.Add(person, string(role), role, 0); err != nil {
			t.Fatal(err)
		}
	}
	handler := web.Handler(s, token, nil)
	call := func(path string, role user.Role, body string) (int, string) {
		r := httptest.NewRequest(http.MethodPost, "http://127.0.0.1"+path, strings.NewReader(body))
		r.Header.Set("Authorization", "Bearer "+tokens[role])
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		return w.Code, w.Body.String()
	}
	for _, role := range []user.Role{user.Read, user.Decide} {
		if status, answer := call("/api/v1/audits", role, `{"report":"x"}`); status != http.StatusForbidden {
			t.Errorf("%s audits: %d %s", role, status, answer)
		}
	}
	if status, answer := call("/api/v1/audits", user.Work, `{"report":"mine"}`); status != http.StatusOK || !strings.Contains(answer, `"audit_id": "mine"`) {
		t.Errorf("%d %s", status, answer)
	}
	body := must.Get(json.Marshal(map[string]any{"question": demo.Question, "most_usd": 5, "perspectives": 6, "template": "decision", "audience": "the board of the port"}))(t)
	status, answer := call("/api/v1/runs", user.Work, string(body))
	var begun struct {
		RunID string `json:"run_id"`
	}
	if err := json.Unmarshal([]byte(answer), &begun); err != nil || status != http.StatusOK || begun.RunID == "" {
		t.Fatalf("%d %s %v", status, answer, err)
	}
	if status, answer := call("/api/v1/runs", user.Read, string(body)); status != http.StatusForbidden {
		t.Errorf("a reader starts a run: %d %s", status, answer)
	}
	wantLogged(t, filepath.Join(s.Home, begun.RunID, "manifest.json"), `"actor":"person","by":"token","who":"work"`)
	for _, body := range []string{`{"question":"Why?","most_usd":"5"}`, `{"question":"Why?","most_usd":0}`, `{"question":"Why?","most_usd":-1}`, `{"question":"Why?","most_usd":1e999}`,
		`{"question":"Why?","most_usd":5,"perspectives":"6"}`, `{"question":"Why?","most_usd":5,"perspectives":2.5}`} {
		if status, answer := call("/api/v1/runs", user.Work, body); status != http.StatusBadRequest || !strings.Contains(answer, `"INVALID_`) {
			t.Errorf("%s: %d %s", body, status, answer)
		}
	}
	if status, answer := call("/api/v1/runs", user.Work, strings.Replace(string(body), `"most_usd":5`, `"most_usd":1000`, 1)); status != http.StatusConflict || !strings.Contains(answer, "BUDGET") {
		t.Errorf("more than is left: %d %s", status, answer)
	}
}

// TestTheAPIIsDescribed: the document in docs is the one that the declarations give, and a
// program of others takes it for OpenAPI.
func TestTheAPIIsDescribed(t *testing.T) {
	path := filepath.Join("..", "..", "..", "docs", "openapi.json")
	made := must.Get(codec.MarshalFile(web.OpenAPI()))(t)
	if *update {
		must.Do(t, os.WriteFile(path, made, 0o644))
	}
	if kept, err := os.ReadFile(path); err != nil || string(kept) != string(made) {
		t.Errorf("docs/openapi.json is not what the declarations give: go test ./internal/face/web -run Described -update: %v", err)
	}
	var document struct{ Paths map[string]any }
	if err := json.Unmarshal(made, &document); err != nil || len(document.Paths) != 4 {
		t.Errorf("%d paths, %v", len(document.Paths), err)
	}
	if os.Getenv("TIDEGATE_OUTSIDERS") == "" {
		return
	}
	const validator = "@seriousme/openapi-schema-validator@2.11.0"
	dir := t.TempDir()
	if out, err := exec.Command("npm", "install", "--prefix", dir, "--ignore-scripts", "--no-audit", "--no-fund", "--fetch-retries=0", validator).CombinedOutput(); err != nil {
		t.Skipf("npm cannot install %s: %v\n%s", validator, err, out)
	}
	program := filepath.Join(dir, "check.mjs")
	must.Do(t, os.WriteFile(program, []byte(`import { Validator } from '@seriousme/openapi-schema-validator';
import fs from 'fs';
const result = await new Validator().validate(JSON.parse(fs.readFileSync(process.argv[2])));
if (!result.valid) { console.log(JSON.stringify(result.errors)); process.exit(1); }
`), 0o600))
	for name, want := range map[string]bool{"honest": true, "spoiled": false} {
		file := filepath.Join(dir, name+".json")
		text := string(made)
		if !want {
			text = strings.Replace(text, `"responses"`, `"answers"`, 1)
		}
		must.Do(t, os.WriteFile(file, []byte(text), 0o600))
		if out, err := exec.Command("node", program, file).CombinedOutput(); (err == nil) != want {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
}
