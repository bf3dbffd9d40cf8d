// Package sentences holds the sentences of a run's report against the pages that they
// cite: by rule, by second readers, by a person. It takes drafts, readings and reviews,
// and judges what was written as gate E will.
package sentences
