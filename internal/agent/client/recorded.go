package client

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
)

// recorded is the driver that gives answers that were kept earlier. Its folder
// is laid out as a run keeps its jobs, so a run's folder can be used:
//
//	jobs/<job id>/<attempt, three digits>/prompt.md        optional
//	                                      prompt-2.md      of turn 2, optional
//	                                      answer-<turn>.md or .json
//	                                      attempt.json     optional: version, tool calls, usage, outcome
//	                                      events.jsonl     optional: what it asked the home
type recorded struct {
	folder string
}

func newRecorded(settings driver.Settings, folder string) (driver.Driver, error) {
	if folder == "" {
		return nil, driver.Invalid(settings, "%q names no folder; expected recorded:DIR", settings.Driver)
	}
	folder, err := filepath.Abs(folder)
	if err != nil {
		return nil, driver.Invalid(settings, "%q names no folder: %v", settings.Driver, err)
	}
	return &recorded{folder}, nil
}

// unreadable is the failure of recorded answers that cannot be read. It lasts
// until a person acts, so that the attempt whose answer was kept is not used up.
func unreadable(err error) *driver.Error {
	return &driver.Error{Kind: driver.Unavailable, Message: "the recorded answers cannot be read: " + tidegate.AsError(err).Message, Lasting: true}
}

// Run answers with what was kept for the task's job, attempt and turn. Where that
// was kept for another prompt, an event says so.
func (d *recorded) Run(ctx context.Context, task driver.Task, event func(driver.Event)) (driver.Answer, error) {
	if err := ctx.Err(); err != nil {
		return driver.Answer{}, context.Cause(ctx)
	}
	folder, err := artifact.Everywhere.Open("driver", d.folder)
	if err != nil {
		return driver.Answer{}, unreadable(err)
	}
	defer folder.Close()
	at := attemptDir(task.Job, task.Attempt)
	kept, err := readRecord(folder, at+"attempt.json", task.Turn)
	if err != nil {
		return driver.Answer{}, unreadable(err)
	}
	answer := driver.Answer{Version: kept.Version, ToolCalls: kept.ToolCalls, Usage: kept.usage, CostUSD: kept.cost}
	text, err := readFirst(folder, fmt.Sprintf("%sanswer-%d", at, task.Turn), ".md", ".json")
	switch {
	case tidegate.CodeOf(err) == tidegate.FileNotFound && kept.Outcome.Known():
		return answer, driver.Failf(kept.Outcome, "recorded: the attempt ended with %s", kept.Outcome)
	case tidegate.CodeOf(err) == tidegate.FileNotFound:
		return answer, driver.Failf(driver.Empty, "no answer was recorded for %s, attempt %d, turn %d", task.Job, task.Attempt, task.Turn)
	case err != nil:
		return answer, unreadable(err)
	}
	prompt := "prompt.md"
	if task.Turn > 1 {
		prompt = fmt.Sprintf("prompt-%d.md", task.Turn)
	}
	asked, err := folder.Read(at + prompt)
	switch {
	case err != nil && tidegate.CodeOf(err) != tidegate.FileNotFound:
		return answer, unreadable(err)
	case err == nil && string(asked) != task.Prompt:
		event(driver.Event{Kind: driver.Warning, Text: fmt.Sprintf("the answer was recorded for another prompt: %s, and the prompt is %s",
			codec.DigestBytes(asked), codec.DigestBytes([]byte(task.Prompt)))})
	}
	if err := askAgain(ctx, folder, at, task, event); err != nil {
		return answer, unreadable(err)
	}
	switch {
	case len(text) > task.Limits.MostAnswer():
		return answer, driver.Failf(driver.Flood, "the recorded answer has %d bytes; at most %d are allowed", len(text), task.Limits.MostAnswer())
	case strings.TrimSpace(string(text)) == "":
		return answer, driver.Failf(driver.Empty, "the recorded answer is empty")
	}
	event(driver.Event{Kind: driver.Message, Text: "recorded"})
	answer.Text = string(text)
	_, err = readFirst(folder, fmt.Sprintf("%sanswer-%d", at, task.Turn+1), ".md", ".json")
	switch {
	case err == nil:
		answer.Session = "recorded" // the answer was repaired
	case tidegate.CodeOf(err) != tidegate.FileNotFound:
		return answer, unreadable(err)
	}
	return answer, nil
}

// askAgain asks the home what the recorded agent asked it. Where an answer is another one
// than then, an event says so: the recorded agent answered from something else.
func askAgain(ctx context.Context, folder *artifact.Folder, at string, task driver.Task, event func(driver.Event)) error {
	if task.Home == nil || task.Turn > 1 {
		return nil
	}
	events, err := folder.Read(at + "events.jsonl")
	if err != nil {
		return artifact.UnlessMissing(err)
	}
	for line := range strings.Lines(string(events)) {
		said, _ := codec.Parse([]byte(line)) // what is no call has no name and no digest
		call, _ := codec.Parse([]byte(said.Get("raw").Str()))
		name, was := call.Get("name").Str(), call.Get("answer_digest").Str()
		if name == "" || was == "" {
			continue
		}
		arguments := map[string]string{}
		for _, m := range call.Get("arguments").Members() {
			arguments[m.Key] = m.Value.Str()
		}
		text, err := task.Home.Answer(ctx, name, arguments)
		if err != nil {
			return err
		}
		if is := codec.DigestBytes([]byte(text)); is != was {
			event(driver.Event{Kind: driver.Warning, Text: fmt.Sprintf("%s was answered with %s when this was recorded, and with %s today: %s",
				name, was, is, driver.Shown(fmt.Sprint(arguments)))})
		}
	}
	return nil
}

// Recorded is the attempt.json that a recording has for an attempt at a job, nil where it
// has none and for a driver that is no recording.
func Recorded(d driver.Driver, job string, attempt int) []byte {
	return recordedFile(d, attemptDir(job, attempt)+"attempt.json")
}

// RecordedSeed is the file with the seed of a round that a recording has, nil where it has
// none.
func RecordedSeed(d driver.Driver, round int64) []byte {
	return recordedFile(d, fmt.Sprintf("review/rounds/%d/seed.json", round))
}

func recordedFile(d driver.Driver, name string) []byte {
	r, ok := d.(*recorded)
	if !ok {
		return nil
	}
	folder, err := artifact.Everywhere.Open("driver", r.folder)
	if err != nil {
		return nil // the answer cannot be read either, which says why
	}
	defer folder.Close()
	data, _ := folder.Read(name)
	return data
}

func attemptDir(job string, attempt int) string {
	return fmt.Sprintf("jobs/%s/%03d/", artifact.FileName(job), attempt)
}

// record is what is read of the attempt.json of a run.
type record struct {
	Version     string         `json:"version"`
	Outcome     driver.Kind    `json:"outcome"`
	ToolCalls   map[string]int `json:"tool_calls"`
	Submissions []struct {
		Usage *struct {
			driver.Usage
			Cost *float64 `json:"cost_usd"`
		} `json:"usage"`
		ToolUsage map[string]int `json:"tool_usage"`
	} `json:"submissions"`

	usage *driver.Usage
	cost  *float64
}

func readRecord(folder *artifact.Folder, name string, turn int) (record, error) {
	var kept record
	data, err := folder.Read(name)
	if err != nil {
		return kept, artifact.UnlessMissing(err)
	}
	if err := json.Unmarshal(data, &kept); err != nil {
		return kept, fmt.Errorf("%s: %w", name, err)
	}
	kept.ToolCalls = kept.callsOf(turn)
	if turn > 0 && turn <= len(kept.Submissions) {
		if usage := kept.Submissions[turn-1].Usage; usage != nil {
			kept.usage, kept.cost = &usage.Usage, usage.Cost
		}
	}
	return kept, nil
}

// callsOf counts the tool calls of one turn. A record that has them only for the
// whole attempt counts them all in the first.
func (r record) callsOf(turn int) map[string]int {
	apart := false
	for _, s := range r.Submissions {
		apart = apart || s.ToolUsage != nil
	}
	switch {
	case apart && turn > 0 && turn <= len(r.Submissions):
		return r.Submissions[turn-1].ToolUsage
	case !apart && turn <= 1:
		return r.ToolCalls
	}
	return nil
}

// readFirst reads the first existing file of those with one of the endings.
func readFirst(folder *artifact.Folder, name string, endings ...string) ([]byte, error) {
	var data []byte
	var err error
	for _, ending := range endings {
		if data, err = folder.Read(name + ending); tidegate.CodeOf(err) != tidegate.FileNotFound {
			break
		}
	}
	return data, err
}

func (d *recorded) Check(ctx context.Context) (string, error) {
	folder, err := artifact.Everywhere.Open("driver", d.folder)
	if err != nil {
		return "", unreadable(err)
	}
	folder.Close()
	return "", nil
}
