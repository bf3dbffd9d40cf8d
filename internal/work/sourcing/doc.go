// Package sourcing finds, fetches, archives and judges the sources of a run, and reads
// their texts. What a source is worth follows from the archive of the run: nothing else
// is asked when it is judged.
package sourcing
