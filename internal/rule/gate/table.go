package gate

// Row is one gate of the table. Package step pairs it with its judge.
type Row struct {
	ID      string
	Name    string
	About   string // what the judge looks at
	Retries int64  // how often the gate may be tried again before a person decides
}

// Table lists the gates of a run, in the order of their letters.
var Table = []Row{
	{"A", "Planning completeness", "scope, perspectives and the plan of the first wave", 0},
	{"B", "Wave output contract compliance", "every output of every planned wave", 2},
	{"C", "Citation validation integrity", "the sources that the outputs name, as they were archived", 1},
	{"D", "Summary pack boundedness", "the summaries and the pack made of them", 1},
	{"E", "Synthesis quality", "the synthesis and the sources that it cites", 3},
	{"F", "Rollout safety", "sensitivity, sources, signatures and budget of the whole run", 0},
}

// IDs are the ids of the table.
func IDs() []string {
	ids := make([]string, len(Table))
	for i, row := range Table {
		ids[i] = row.ID
	}
	return ids
}

// Find is the row of an id.
func Find(id string) (Row, bool) {
	for _, row := range Table {
		if row.ID == id {
			return row, true
		}
	}
	return Row{}, false
}
