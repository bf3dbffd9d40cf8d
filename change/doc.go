// Package change keeps the files of a code change under review: STATE.yaml with
// its phase, REVIEW.md, and the numbered history of reviews, in the folder
// agentd/changes/<id> of a project.
//
// A review is written by [CreateReview] and moves the change by [Advance]; both
// happen under the lock of the change folder and in one transaction, so that
// concurrent reviews are all kept and a killed process leaves files that belong
// together. STATE.yaml is changed in place: only the lines of the changed values
// differ, and what the package does not know is kept.
//
// A project is the absolute path of the folder that holds agentd. Access cannot
// leave it. The package knows no face, and nothing of what a review says beyond
// its verdict and its issues.
package change
