// Package job is agents' work: what an agent must write next, who has it, and
// what became of it.
//
// A job follows from the run, or from the code change, that it belongs to: no list
// of open work is stored that could disagree with the files. Each kind of job is
// one file with its prompt, its judge and its acceptance. The prompt is filled from the same objects that judge, so that an
// agent that follows it passes.
//
// An attempt is one agent's go at a job. It begins with a lease, takes at most
// four answers, and is kept whole: prompt, every answer as it came, the faults
// that each had. An answer is on disk before it is judged. Judging happens
// outside the run's lock; what was judged is compared, by digest, with what is
// there when the verdict is written inside it.
package job
