package run

// GateRow is one gate of the table. Package step pairs it with its judge.
type GateRow struct {
	ID    string
	Name  string
	About string // what the judge looks at
}

// GateTable lists the gates of a run, in the order of their letters.
var GateTable = []GateRow{
	{"A", "Planning completeness", "scope, perspectives and the plan of the first wave"},
	{"B", "Wave output contract compliance", "every output of every planned wave"},
	{"C", "Citation validation integrity", "the sources that the outputs name, as they were archived"},
	{"D", "Summary pack boundedness", "the summaries and the pack made of them"},
	{"E", "Synthesis quality", "the synthesis and the sources that it cites"},
	{"F", "Rollout safety", "sensitivity, sources, signatures and budget of the whole run"},
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
