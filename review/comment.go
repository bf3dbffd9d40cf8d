package review

// CommentMark is the first line of a review that is shown as a comment: by it the
// next one finds its predecessor and takes its place. A reader does not see it.
func CommentMark(changeID string) string { return "<!-- tidegate review " + changeID + " -->" }
