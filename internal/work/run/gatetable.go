package run

// GateRow is one gate of the table. Package step pairs it with its judge.
type GateRow struct {
	ID      string
	Name    string
	About   string // what the judge looks at
	Retries int64  // how often the gate may be tried again before a person decides
}

// GateTable lists the gates of a run, in the order of their letters.
var GateTable = []GateRow{
	{"A", "Planning completeness", "scope, perspectives and the plan of the first wave", 0},
	{"B", "Wave output contract compliance", "every output of every planned wave", 2},
	{"C", "Citation validation integrity", "the sources that the outputs name, as they were archived", 1},
	{"D", "Summary pack boundedness", "the summaries and the pack made of them", 1},
	{"E", "Synthesis quality", "the synthesis and the sources that it cites", 3},
	{"F", "Rollout safety", "sensitivity, sources, signatures and budget of the whole run", 0},
}

// GateIDs are the ids of the table.
func GateIDs() []string {
	ids := make([]string, len(GateTable))
	for i, row := range GateTable {
		ids[i] = row.ID
	}
	return ids
}

// FindGate is the row of an id.
func FindGate(id string) (GateRow, bool) {
	for _, row := range GateTable {
		if row.ID == id {
			return row, true
		}
	}
	return GateRow{}, false
}
