// Package forge speaks to the forge that a pull request is on, as far as a review of it
// needs: it looks the pull request up, finds what was reviewed of it before, and writes
// comments and a check. It knows GitHub's REST and GraphQL API, and of GitLab's REST API what
// publishing takes, and judges nothing.
//
// Everything that comes from there was written by others. A comment counts as ours only
// if its author is the user whose token this is, and a state of an earlier review only
// if a run of the same workflow made it, in the definition of the default branch.
package forge
