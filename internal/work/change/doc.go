// Package change keeps the files of a code change under review: STATE.yaml with
// its phase, REVIEW.md, the numbered reviews that were kept, and the chained log.
// They are in the folder agentd/changes/<id> of a project, or, instead of agentd,
// in what [run.Desk] names.
//
// A review is handed in by [CreateReview] and moves the change by [Advance]; both
// happen under the lock of the change folder and in one transaction, so that
// concurrent reviews are all kept and a killed process leaves files that belong
// together. What decides is the review that was kept, by its digest in the log,
// not the present content of REVIEW.md. STATE.yaml is changed in place: only the
// lines of the changed values differ, and what the package does not know is kept.
//
// In a git repository a review is bound to the files that it was about, as
// [git.ReadTree] reads them.
//
// Where only a person decides, the context of a call says on whose authority it
// is made ([tidegate.ActorOf]).
//
// A project is the absolute path of the folder that holds agentd. Access cannot
// leave it. The package knows nothing of faces, and nothing of what a review says
// beyond its verdict, its issues and its tests.
package change
