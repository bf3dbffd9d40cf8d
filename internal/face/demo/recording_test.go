package demo_test

import (
	"context"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/client"
	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/agent/engine"
	"github.com/tidegate/tidegate/internal/agent/job"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/face/demo"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/reader"
	"github.com/tidegate/tidegate/internal/test/runs"
	"github.com/tidegate/tidegate/internal/work/library"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/sentences"
)

var update = flag.Bool("update", false, "rewrite what the second reader of the demo answers")

// recordings is where the answers of the demo's agents lie. People write those of the
// planner, the researchers, the writer and the reviewer. Those of the second reader follow
// from the drafts and the pairs that are made of their sentences, so that they
// are made by a reader that knows the truth.
const recordings = "data/agents"

// The error that only the second reader finds: every word of it stands on its page.
const (
	lie     = "The saving follows the price of power more than the price of fuel."
	against = "The passage says the opposite: the difference follows the price of fuel more than the price of power."
)

// TestTheSecondReaderKnowsTheTruth drives the run of the story with the recorded agents
// and that reader, which supports both sentences of a pair, once. What it says is what is
// recorded.
func TestTheSecondReaderKnowsTheTruth(t *testing.T) {
	others := must.Get(client.New(driver.Settings{Driver: "recorded:" + recordings}, driver.Host{}))(t)
	said := &readings{others: others, answers: map[string]string{}, under: recordings}
	recording := &driver.Recording{Question: demo.Question, Attempt: func(id string, attempt int) []byte {
		if *update {
			return nil
		}
		return client.Recorded(others, id, attempt)
	}}
	desk := run.Desk{Now: time.Now}
	made := runs.CreateAt(t, desk, run.InitInput{Query: demo.Question, RunID: "harbour", Shape: demo.Shape, Evidence: run.EvidenceChoice{OneAgent: true}})
	out, err := engine.Drive(t.Context(), filepath.Join(made.Root, run.ManifestFile), engine.Options{
		Desk: desk, Pool: said, Fetch: demo.Pages{Now: desk.Now}.Fetch,
		Agents: map[string]engine.Agent{"": {Driver: "recorded:demo", Recording: recording}},
	})
	if err != nil || out.Status != run.Completed {
		t.Fatalf("%+v, %v", out, err)
	}
	r := runs.Open(t, filepath.Join(made.Root, run.ManifestFile))
	compare(t, said.answers, madeFrom(t, made.Root))
	if first := must.Read(t, made.Root+"/jobs/verify.1/001/attempt.json"); !strings.Contains(first, string(tidegate.ControlFailed)) {
		t.Errorf("the first reading is not refused for a pair: %s", first)
	}
	claims := must.Get(sentences.ReadClaims(r))(t)
	for _, s := range claims.Sentences {
		if s.Verdict == nil || s.Verdict.Verdict != "supported" {
			t.Errorf("%s does not stand: %s", s.ID, s.Text)
		}
	}
	askFurther(t, made.Root)
	if rounds := r.Manifest().RoundsByRule(); !rounds[1] || r.Manifest().ReviewRounds() != 2 {
		t.Errorf("the rule sent back the rounds %v of %d", rounds, r.Manifest().ReviewRounds())
	}
}

// askFurther asks the further question about the run of the story. What its reader says is
// what is recorded.
func askFurther(t *testing.T, root string) {
	t.Helper()
	const further = "further"
	others := must.Get(client.New(driver.Settings{Driver: "recorded:" + further}, driver.Host{}))(t)
	desk, home := run.Desk{Now: time.Now, Reach: artifact.Everywhere}, filepath.Dir(root)
	item := must.Get(library.Open(t.Context(), desk, home, home, filepath.Base(root)))(t)
	defer item.Close()
	asked := must.Get(library.AskOf(t.Context(), demo.Further, item))(t)
	pool := &readings{others: others, answers: map[string]string{}, under: further}
	agent := engine.Agent{Driver: "recorded:demo", Recording: &driver.Recording{Question: demo.Further, Attempt: func(id string, attempt int) []byte { return client.Recorded(others, id, attempt) }}}
	answered, _, err := engine.Answer(t.Context(), home, asked, run.DefaultBudget(nil), true, engine.Options{Desk: desk, Pool: pool, Agents: map[string]engine.Agent{job.AskWriter: agent, engine.AskReader: agent}})
	if err != nil || !answered.Pass {
		t.Fatalf("the further question has no answer: %+v, %v", answered, err)
	}
	compareIn(t, further, pool.answers, map[string]string{})
}

// madeFrom is what the attempts of a run were asked about, by the files that record it.
func madeFrom(t *testing.T, root string) map[string]string {
	t.Helper()
	kept := map[string]string{}
	for name, text := range must.Tree(t, filepath.Join(root, "jobs")) {
		if filepath.Base(name) == "attempt.json" {
			from := must.Get(codec.MarshalFile(codec.Of(tidegate.Pairs("made_from", runs.Parse(t, text).Get("made_from")))))(t)
			kept[recordings+"/jobs/"+filepath.ToSlash(name)] = string(from)
		}
	}
	return kept
}

// compare compares files with what is recorded: the answers of the second reader, and what
// every attempt was asked about.
func compare(t *testing.T, answers, asked map[string]string) {
	compareIn(t, recordings, answers, asked)
}

func compareIn(t *testing.T, under string, answers, asked map[string]string) {
	t.Helper()
	want := maps.Clone(asked)
	maps.Copy(want, answers)
	for _, pattern := range []string{"/jobs/*/*/attempt.json", "/jobs/verify.*/*/answer-1.json"} {
		kept := must.Get(filepath.Glob(under + pattern))(t)
		for _, name := range kept {
			if _, made := want[name]; made {
				continue
			}
			t.Errorf("%s is of no attempt", name)
			if *update {
				os.Remove(name)
			}
		}
	}
	for name, text := range want {
		if *update {
			runs.Put(t, ".", name, text)
		} else if data, err := os.ReadFile(name); err != nil || string(data) != text {
			t.Errorf("%s is not what it would be (%v); to rewrite it: go test ./internal/face/demo -update", name, err)
		}
	}
}

// readings is a pool whose second reader knows the truth, and whose other agents are
// recorded. It keeps what the reader says, by the file that records it.
type readings struct {
	others  driver.Driver
	under   string // where it is recorded
	mu      sync.Mutex
	answers map[string]string
}

func (r *readings) Do(ctx context.Context, task driver.Task, note func(driver.Event)) (driver.Answer, error) {
	if task.Kind != "verify" {
		return r.others.Run(ctx, task, note)
	}
	missed := task.Job != "verify.1" || task.Attempt > 1 || r.under != recordings
	text := reader.Answer(task.Prompt, func(c reader.Claim) reader.Verdict {
		v := judge(c)
		if v.Verdict == "unsupported" && c.Sentence != lie && !missed {
			missed = true
			return careless(c)
		}
		return v
	})
	text = strings.NewReplacer(`{"verdicts":[`, "{\"verdicts\":[\n", `},{`, "},\n{", `}]}`, "}\n]}\n").Replace(text)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answers[filepath.ToSlash(filepath.Join(r.under, "jobs", task.Job, attemptName(task.Attempt), "answer-1.json"))] = text
	return driver.Answer{Text: text}, nil
}

func (r *readings) Cancel(context.Context, string) error { return nil }

func attemptName(n int) string { return "00" + string(rune('0'+n)) }

// judge is what a reader says that knows the truth.
func judge(c reader.Claim) reader.Verdict {
	sentence := strings.Join(strings.Fields(c.Sentence), " ")
	words, known := truth[sentence]
	if !known {
		because := "No passage says it."
		if sentence == lie {
			because = against
		}
		return reader.Verdict{Verdict: "unsupported", Because: because}
	}
	if c.Form == "frame" {
		return reader.Verdict{Verdict: "supported"}
	}
	passage := slices.IndexFunc(c.Passages, func(p string) bool { return strings.Contains(p, words) })
	return reader.Verdict{Verdict: "supported", Passage: passage + 1, Words: words}
}

// careless believes a claim for the longest run of its words that a passage has, or else
// for whatever a passage begins with.
func careless(c reader.Claim) reader.Verdict {
	v := reader.Verdict{Verdict: "supported"}
	words := strings.Fields(c.Sentence)
	for from := range words {
		for to := from + 1; to <= len(words); to++ {
			run := strings.Join(words[from:to], " ")
			if i := slices.IndexFunc(c.Passages, func(p string) bool { return strings.Contains(p, run) }); i >= 0 && len(run) > len(v.Words) {
				v.Passage, v.Words = i+1, run
			}
		}
	}
	if len(strings.Fields(v.Words)) < 3 {
		v.Passage, v.Words = 1, strings.Join(strings.Fields(c.Passages[0])[:5], " ")
	}
	return v
}

// truth has the sentences of the report that are true, each with the words of its page
// that say so; a frame needs none.
var truth = map[string]string{
	"The electric tugs of three contracts have 70 tonnes of bollard pull.":                                                            "electric tugs of 70 tonnes bollard pull",
	"None of the crews that changed to electric tugs has had a problem with bollard pull.":                                            "None of them has had a problem with bollard pull",
	"The concession obliges the port to keep four tugs on standby, whatever drives them.":                                             "keep four tugs on standby at all times, whatever drives them",
	"The two oldest diesel boats stand in the books of the port at 1.3 million euro.":                                                 "They stand in the books of the port at 1.3 million euro",
	"There is no ban on diesel engines in harbour craft, and none is proposed before 2035.":                                           "none is proposed before 2035",
	"The two oldest diesel boats can stay: their engines were overhauled in 2024.":                                                    "The two oldest diesel boats had their engines overhauled in 2024",
	"A diesel boat costs 7.2 million euro on average.":                                                                                "On average the diesel boat costs 7.2 million euro",
	"An electric boat costs 14.0 million euro on average, in three contracts 1.8 to 2.1 times as much as its diesel sister.":          "the electric one 14.0 million euro",
	"On 88 % of all boat-days the energy used stays below 70 % of a 2.8 MWh battery, with a reserve of one emergency job counted in.": "On 88 % of all boat-days the energy used stays below 70 % of a 2.8 MWh battery",
	"The substation “has 1.1 MW to spare on a winter evening”, and two tugs that charge at the same time need 3.0 MW.":                "has 1.1 MW to spare on a winter evening",
	"A buffer has to bring the missing 1.9 MW.":                                                                                       "They cannot do so on the present connection without a buffer",
	"In the hottest week of 2025 the reefer stacks drew 0.3 MW at most at night.":                                                     "At night they drew 0.3 MW at most",
	"Two ports of similar size charge their tugs from a battery of 2.5 MWh on the quay.":                                              "Each has 2.5 MWh",
	"The network operator quotes 26 to 34 months for a new feed to a quay.":                                                           "quotes 26 to 34 months for a new 10 kV feed to a quay",
	"What a boat costs:":                          "",
	"Boat | Price in million euro":                "",
	"Boat: Diesel; Price in million euro: 7.2":    "the diesel boat costs 7.2 million euro",
	"Boat: Electric; Price in million euro: 14.0": "the electric one 14.0 million euro",
	"Replacing two of the four tugs would remove about 2,300 tonnes of carbon dioxide a year at the quay.":                                 "would remove about 2,300 tonnes of carbon dioxide a year at the quay",
	"The power for them causes 510 tonnes at power stations.":                                                                              "the factors give 510 tonnes",
	"That leaves a net saving of about 1,790 tonnes.":                                                                                      "the net saving of the quay of 2,300 tonnes becomes about 1,790 tonnes",
	"Crews report quieter decks, and none of them has had a problem with bollard pull.":                                                    "None of them has had a problem with bollard pull",
	"Two electric boats cost 13.6 million euro more than two diesel boats.":                                                                "the diesel boat costs 7.2 million euro and the electric one 14.0 million euro",
	"The battery on the quay costs 1.9 million euro.":                                                                                      "The battery with its converters costs 1.9 million euro",
	"Public money pays up to 30 % of the extra cost of the boats, which is 4.08 million euro at most.":                                     "pays up to 30 % of the extra cost",
	"It pays up to 50 % of the charging equipment on land, which is 0.95 million euro at most.":                                            "at up to 50 % of its cost",
	"The electric boats then cost 10.47 million euro more to buy.":                                                                         "The battery with its converters costs 1.9 million euro",
	"An electric tug spends about 210,000 euro less a year on energy than a diesel boat.":                                                  "an electric tug spends about 210,000 euro less on energy than a diesel boat",
	"The saving follows the price of fuel more than the price of power.":                                                                   "The difference follows the price of fuel more than the price of power",
	"Maintenance costs 150,000 euro a year instead of 240,000 euro.":                                                                       "150,000 euro a year instead of 240,000 euro",
	"Two boats together save 600,000 euro a year.":                                                                                         "about 210,000 euro less on energy",
	"Over the 20 years for which they are built that is 12 million euro.":                                                                  "Both are built for 20 years of service",
	"In all, two electric boats cost 1.53 million euro less than two diesel boats, if both grants are paid in full.":                       "Both are built for 20 years of service",
	"Without the grants the electric boats cost 3.5 million euro more in all.":                                                             "The battery with its converters costs 1.9 million euro",
	"Escort work outside the breakwater stays with the diesel boats for now.":                                                              "Escort work outside the breakwater stays with the diesel boats for now",
	"Replace the two oldest boats with electric ones, and charge them from a battery on the quay, which needs no new feed.":                "because no new feed was needed",
	"Apply for both grants first: they pay up to 30 % of the extra cost of the boats and up to 50 % of the charging equipment.":            "pays up to 30 % of the extra cost",
	"Keep the two other diesel boats for escort work outside the breakwater.":                                                              "Escort work outside the breakwater stays with the diesel boats for now",
	"In a year with cheap fuel the saving on energy is a third smaller.":                                                                   "In the year with the cheapest fuel it was a third smaller",
	"Nobody has yet replaced a battery at the end of its life, so that this cost is not part of the comparison.":                           "Nobody has yet replaced a battery at the end of its life",
	"Whoever waits may pay less: the latest order is 14 % below the first one.":                                                            "the latest order is 14 % below the first one",
	"The first electric boats in comparable ports were out of service for 9 % of their first year, mainly because of charging connectors.": "were out of service for 9 % of their first year",
	"Of the sources 17 are valid, and one is behind a paywall.":                                                                            "paywalled 1, valid 17",
}
