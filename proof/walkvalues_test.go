package proof_test

import (
	"path/filepath"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/tool"
)

// The values that a walking agent gives to arguments, by argument name.

// arguments are some arguments for a tool: those that it requires and now and then
// others.
func (w *walk) arguments(of *tool.Tool) tidegate.Details {
	schema := of.InputSchema()
	required := map[string]bool{"run_id": true} // a made-up one would differ each time
	required[[]string{"manifest_path", "manifest_path", "manifest_path", "run"}[w.random.IntN(4)]] = true
	for _, name := range schema.Get("required").Elems() {
		required[name.Str()] = true
	}
	// Most arguments of one call are about one run, or the call means nothing.
	list := w.runs()
	f := list[w.random.IntN(len(list))]
	var args tidegate.Details
	for _, m := range schema.Get("properties").Members() {
		if required[m.Key] && w.random.IntN(50) > 0 || w.random.IntN(5) == 0 {
			args = append(args, tidegate.Detail{Key: m.Key, Value: pools[m.Key](w, f)})
		}
	}
	return args
}

// draw is one of the values.
func draw[T any](w *walk, values []T) T { return values[w.random.IntN(len(values))] }

type pool func(w *walk, f folder) any

func oneOf(values ...any) pool { return func(w *walk, _ folder) any { return draw(w, values) } }

func list(of pool, most int) pool {
	return func(w *walk, f folder) any {
		values := []any{}
		for range w.random.IntN(most + 1) {
			values = append(values, of(w, f))
		}
		return values
	}
}

// somewhere is mostly the usual place in the run, otherwise anywhere: in this run or
// another, in a change, outside, where nothing is, or where no path leads.
func somewhere(usual ...string) pool {
	return func(w *walk, f folder) any {
		if len(usual) > 0 && w.random.IntN(10) < 8 {
			return f.path(draw(w, usual))
		}
		switch w.random.IntN(4) {
		case 0:
			return f.path(draw(w, inRun))
		case 1:
			return filepath.Join(w.dir, draw(w, inOffice))
		case 2:
			return draw(w, w.runs()).path(draw(w, inRun))
		}
		return draw(w, []string{"/", "", "relative.json", "/dev/null", w.dir + "/../evil-perspectives.json", f.root + "/../" + "evil", "/nowhere/at/all", "\x00", w.dir + "/link"})
	}
}

var (
	inRun = []string{
		"jobs/wave1.moon/001/attempt.json", "jobs/wave1.moon/lease.json", "summaries/moon.md", "synthesis/final-synthesis.md", "review/review-bundle.json", ".tidegate.home",
		".", "manifest.json", "manifest-2.json", "gates.json", "perspectives.json", "wave-review.json", "pivot.json", "logs/audit.jsonl", "logs/audit.head", "logs", ".tidegate.lock",
		"wave-1", "wave-1/moon.md", "wave-1/sun.md", "wave-1/moon.meta.json", "wave-1/.accepted", "wave-1/.accepted/moon.md", "wave-1/wave1-plan.json", "wave-2", "wave-2/freely.md",
		"wave-2/wave2-plan.json", "wave-2/wave2-perspectives.json", "operator/scope.json", "run-config/policy.json", "run-config/allowed_signers", "summaries", "summaries/summary-pack.json",
		"citations/citations.jsonl", "citations/normalized-urls.txt", "citations/url-map.json", "evidence/archive.warc.gz", "evidence/index.json", "wave-1/../gates.json", "new-perspectives.json", "new.json",
	}
	inOffice = []string{
		".mcp.json", ".client/settings.json", "package-perspectives.json", "drafts", "drafts/good", "drafts/perspectives.json", "drafts/wave-review.json", "drafts/new-perspectives.json", "drafts/new.json",
		"agentd/changes", "agentd/changes/other/STATE.yaml", "agentd/changes/other/REVIEW.md", "agentd/changes/other/reviews/0001.md", "agentd/changes/started/log.jsonl",
		"agentd/changes/started/.tidegate.lock", "runs", "runs/runs-ledger.jsonl", "runs/other", "agentd/allowed_signers",
	}
	changeIDs = []any{"started", "fresh", "exchanged", "by-hand", "other", "../evil", "..", "", "started/reviews", "a b"}
	ids       = oneOf("moon", "sun", "gap_moon_1", "freely", "../evil", "..", "", "moon ", "wave1-plan")
	numbers   = oneOf(1, 1, 2, 3, 0, -1, 1000000, "1")
	words     = oneOf("r", "r", "r", "r", "r", "", "\x1b[2J", "person", nil)
	flags     = oneOf(true, false)
	texts     = oneOf(output("moon", withGap), output("sun", ""), output("moon", "• (P0) lost"), "", "## Findings\n", output("moon", "")+"<!-- x -->", "x\x00y")
	submitted = func(w *walk, f folder) any {
		s := tidegate.Pairs("perspective_id", ids(w, f), "markdown", texts(w, f))
		if w.random.IntN(3) == 0 {
			s = append(s, tidegate.Detail{Key: "tool_usage", Value: draw(w, []any{tidegate.Pairs("search", 2), tidegate.Pairs("search", 99), tidegate.Pairs("search", -1), "x"})})
		}
		return s
	}
	gap = func(w *walk, f folder) any {
		return tidegate.Pairs("gap_id", draw(w, []any{"g1", "gap_moon_1", "moon", ""}), "priority", draw(w, []any{"P0", "P1", "P3", "P9"}), "text", draw(w, []any{"How much the sun adds", "mine", ""}))
	}
)

// token is the token of one of the last leases, or now and then one never given out.
func token(w *walk, f folder) any {
	if len(w.leased) == 0 || w.random.IntN(10) == 0 {
		return draw(w, []string{"", "x", strings.Repeat("0", 32) + "/1/wave1.moon", strings.Repeat("0", 32) + "/1/../evil", "person"})
	}
	last := w.leased[max(0, len(w.leased)-4):]
	token := draw(w, last).Get("token").Str()
	if w.random.IntN(10) == 0 { // for another job, by its name
		secret, _, _ := strings.Cut(token, "/")
		token = secret + "/1/" + draw(w, last).Get("job_id").Str()
	}
	return token
}

// answers are what an obedient agent answers to one of the last leases, and what
// others would have it answer.
func answers(w *walk, f folder) any {
	if len(w.leased) > 0 && w.random.IntN(2) == 0 {
		return obey(draw(w, w.leased[max(0, len(w.leased)-4):]))
	}
	return draw(w, []any{
		"x", "", output("moon", ""), output("sun", "• (P0) lost"), "- It pulls.\n", "- It pulls [@s1].\n", "- It pulls [@cid_a].\n", "## Summary\n\nIt pulls 99 times.\n",
		`{"decision":"PASS","findings":[],"directives":[]}`, `{"decision":"PASS","made_by":"person","synthesis_digest":"sha256:00","findings":[],"directives":[]}`,
		`{"decision":"CHANGES_REQUIRED","findings":[],"directives":[{"line":null,"action":"Say more."}]}`, asJSON(contracts(f.id, 60)), asJSON(contracts("other", 100_000)), strings.Repeat("x", 600<<10),
	})
}

// pools has values for every argument of every tool.
var pools = map[string]pool{
	"manifest_path":              somewhere("manifest.json"),
	"run":                        oneOf("run1", "other", "paused", "tides", "to-write", "to-finish", "../evil", "", 1),
	"states":                     list(oneOf("open", "leased", "accepted", "exhausted", "x"), 2),
	"holder":                     oneOf("walker", "walker", "person", "rule", "", "\x1b[2J", nil),
	"job_id":                     oneOf("perspectives", "wave1.moon", "wave1.sun", "summary.moon", "summary.sun", "synthesis", "review", "review.2", "../evil", "..", ""),
	"lease_seconds":              oneOf(30, 1800, 7200, 29, 1000000, -1),
	"token":                      token,
	"answer":                     answers,
	"answer_path":                somewhere("wave-1/moon.md", "synthesis/final-synthesis.md", "review/review-bundle.json"),
	"usage":                      oneOf(tidegate.Pairs("input_tokens", 1), tidegate.Pairs("input_tokens", -1), tidegate.Pairs("cost_usd", 0.1), tidegate.Pairs("cost_usd", -1), "x"),
	"tool_usage":                 oneOf(tidegate.Pairs("search", 2), tidegate.Pairs("search", 99), tidegate.Pairs("search", -1), "x"),
	"gates_path":                 somewhere("gates.json"),
	"perspectives_path":          somewhere("perspectives.json"),
	"outputs_dir":                somewhere("wave-1", "wave-2"),
	"markdown_path":              somewhere("wave-1/moon.md"),
	"report_path":                somewhere("wave-review.json"),
	"wave_review_report_path":    somewhere("wave-review.json"),
	"fixture_summaries_dir":      somewhere("wave-1"),
	"citations_path":             somewhere("citations/citations.jsonl"),
	"document_path":              somewhere("wave-1/moon.md", "synthesis/final-synthesis.md"),
	"synthesis_path":             somewhere("synthesis/final-synthesis.md", "synthesis/draft-synthesis.md", "wave-1/moon.md"),
	"output_path":                somewhere("synthesis/final-synthesis.md", "synthesis/draft-synthesis.md", "wave-1/moon.md", "gates.json"),
	"fixture_draft_path":         somewhere("wave-1/moon.md"),
	"online_dry_run":             flags,
	"again":                      flags,
	"summary_pack_path":          somewhere("summaries/summary-pack.json"),
	"summaries_dir":              somewhere("summaries"),
	"root_override":              somewhere(),
	"review_path":                somewhere(),
	"payload_path":               somewhere("review/review-bundle.json"),
	"files":                      list(somewhere("manifest.json"), 2),
	"base":                       oneOf("HEAD", "main", "--output=x", "no such revision"),
	"committed":                  oneOf(true, false),
	"test_output":                somewhere("manifest.json", "wave-1/moon.md"),
	"test_status":                numbers,
	"part":                       numbers,
	"signers":                    somewhere("run-config/allowed_signers"),
	"of":                         list(oneOf("run1", "tides", "none", "../evil", ""), 2),
	"question":                   oneOf(question, "Is it late?", ""),
	"query":                      oneOf(question, "Is it late?", ""),
	"mode":                       oneOf("quick", "standard", "fixture", "generate", "fast"),
	"sensitivity":                oneOf("normal", "restricted", "no_web", "none"),
	"run_id":                     oneOf("run1", "other", "paused", "tides", "../evil", ".mcp.json", ""),
	"limits":                     oneOf(tidegate.Pairs("max_wave1_agents", 9), tidegate.Pairs("max_wave2_agents", 0), tidegate.Pairs("max_wave1_agents", -1), tidegate.Pairs("x", 1)),
	"origins":                    oneOf("required", "x", ""),
	"search":                     list(oneOf("wikipedia", "arxiv", "../evil", ""), 2),
	"allow_domains":              list(oneOf("example.org", "*", "a/b"), 2),
	"length":                     oneOf("brief", "300", "huge"),
	"audience":                   oneOf("the board of a port", " "),
	"template":                   oneOf("decision", "essay", "## One\n## Two\n"),
	"deny_domains":               list(oneOf("example.org", "*", "a/b"), 2),
	"since":                      oneOf("2023-01-01", "yesterday"),
	"status":                     oneOf("created", "completed", "odd"),
	"words":                      oneOf("tides", "?"),
	"dated":                      flags,
	"source_language":            list(oneOf("en", "de", "../evil"), 2),
	"source_class":               list(oneOf("scholarly", "other", "x"), 2),
	"service":                    oneOf("wikipedia", "../evil", ""),
	"language":                   oneOf("de", "../evil", ""),
	"max_results":                numbers,
	"classes":                    flags,
	"report":                     oneOf("Tides come twice a day [1].\n\n[1] https://example.org/tides", "[[[[", ""),
	"no_fetch":                   flags,
	"mermaid":                    flags,
	"dry_run":                    flags,
	"reason":                     words,
	"change_note":                words,
	"inputs_digest":              oneOf("d", "sha256:00", ""),
	"expected_revision":          numbers,
	"expected_manifest_revision": numbers,
	"last":                       numbers,
	"max_failures":               numbers,
	"max_findings":               numbers,
	"from":                       numbers,
	"to":                         numbers,
	"head":                       words,
	"gate_id":                    oneOf("A", "B", "C", "G"),
	"stage":                      oneOf("init", "wave1", "pivot", "finalize", "x"),
	"requested_next":             oneOf("wave1", "pivot", "wave2", "citations", "summaries", "finalize", "x"),
	"now_iso":                    oneOf("2999-01-01T00:00:00Z", "1999-01-01T00:00:00Z", "x"),
	"wave":                       oneOf("wave1", "wave2", "wave3"),
	"perspective_id":             ids,
	"perspective_ids":            list(ids, 3),
	"outputs":                    list(submitted, 3),
	"explicit_gaps":              list(gap, 2),
	"change_id":                  oneOf(changeIDs...),
	"reviews":                    list(oneOf("4f2a91c07be3"), 2),
	"verdict":                    oneOf("APPROVED", "APPROVED", "NEEDS_FIX", "MAJOR_ISSUES", "LGTM"),
	"summary":                    oneOf("s", "## Verdict: APPROVED", "[x] APPROVED", ""),
	"test_results":               oneOf(tidegate.Pairs("passed", 1, "failed", 0, "total", 1), tidegate.Pairs("passed", 1, "failed", 2, "total", 3), tidegate.Pairs("failed", -1), "x"),
	"issues": list(func(w *walk, f folder) any {
		return tidegate.Pairs("title", "t", "severity", draw(w, []any{"High", "Medium", "Low", "None"}), "category", "Bug", "description", "d")
	}, 2),
	"wave1_outputs": func(w *walk, f folder) any {
		if w.random.IntN(2) == 0 {
			return pivotOutputs
		}
		return list(func(w *walk, f folder) any {
			return tidegate.Pairs("perspective_id", ids(w, f), "output_md_path", draw(w, []any{"wave-1/moon.md", "../other/wave-1/moon.md", w.dir + "/drafts/good/moon.md", "operator/scope.json"}))
		}, 2)(w, f)
	},
	"wave1_validation_reports": func(w *walk, f folder) any {
		if w.random.IntN(2) == 0 {
			return pivotReports
		}
		return list(func(w *walk, f folder) any {
			return tidegate.Pairs("ok", flags(w, f), "perspective_id", ids(w, f), "markdown_path", "/x", "words", 1, "sources", 1, "missing_sections", []string{})
		}, 2)(w, f)
	},
	"value": func(w *walk, f folder) any {
		return draw(w, []any{
			contracts(f.id, 60), contracts(f.id, 100_000), contracts("other", 60), contractsWith(f.id, 60), tidegate.Pairs(), "x",
			tidegate.Pairs("schema_version", "perspectives.v1", "run_id", f.id, "created_at", "x", "perspectives", []string{}, "mcpServers", tidegate.Pairs("evil", tidegate.Pairs("command", "sh"))),
		})
	},
	"patch": func(w *walk, f folder) any {
		return draw(w, []any{
			tidegate.Pairs("status", draw(w, []any{"running", "paused", "cancelled", "failed", "completed", "created", "x", nil, tidegate.Pairs("a", 1)})),
			tidegate.Pairs("query", tidegate.Pairs("text", "Is it late?")), tidegate.Pairs("query", tidegate.Pairs("sensitivity", "no_web")), tidegate.Pairs("query", nil),
			tidegate.Pairs("limits", tidegate.Pairs("max_wave2_agents", 9)), tidegate.Pairs("limits", nil), tidegate.Pairs("limits.max_wave2_agents", 9),
			tidegate.Pairs("stage", tidegate.Pairs("current", "finalize")), tidegate.Pairs("stage", tidegate.Pairs("last_progress_at", "2999-01-01T00:00:00Z")), tidegate.Pairs("stage", tidegate.Pairs("started_at", nil)),
			tidegate.Pairs("artifacts", tidegate.Pairs("paths", tidegate.Pairs("gates_file", "x.json"))), tidegate.Pairs("artifacts", tidegate.Pairs("root", "/")),
			tidegate.Pairs("metrics", tidegate.Pairs("n", 1)), tidegate.Pairs("metrics", tidegate.Pairs("retry_counts", tidegate.Pairs("B", 0))), tidegate.Pairs("metrics", nil), tidegate.Pairs("failures", []string{}),
			tidegate.Pairs("notes", "n"), tidegate.Pairs("legacy_gates", true), tidegate.Pairs("revision", 1), tidegate.Pairs("run_id", "other"), tidegate.Pairs(), "x",
			tidegate.Pairs("query", tidegate.Pairs("constraints", tidegate.Pairs("deep_research_cli.enabled", true))), tidegate.Pairs("stage", tidegate.Pairs("started_at.x", 1)),
		})
	},
	"update": func(w *walk, f folder) any {
		update := codec.NewObject()
		for range 1 + w.random.IntN(2) {
			gate := codec.Of(tidegate.Pairs("status", draw(w, []any{"pass", "pass", "fail", "not_run", "warn", "x"}), "checked_at", tidegate.Stamp(w.env.Now())))
			switch w.random.IntN(6) {
			case 0:
				gate.Set("metrics", codec.Of(tidegate.Pairs("accepted", tidegate.Pairs("reason", "r", "at", "x"), "judge", tidegate.Pairs("status", "pass"))))
			case 1:
				gate.Set("metrics", codec.Of(tidegate.Pairs("bound", tidegate.Pairs("digest", "sha256:00", "files", tidegate.Pairs()))))
			case 2:
				gate.Set("artifacts", codec.Of([]string{"wave-review.json"}))
			case 3:
				gate = codec.Of(tidegate.Pairs("notes", "accepted by a person"))
			case 4:
				gate.Delete("status")
			}
			update.Set(draw(w, []string{"A", "B", "B", "C", "D", "E", "F", "G"}), gate)
		}
		return update
	},
}
