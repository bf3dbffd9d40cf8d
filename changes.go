package tidegate

import "context"

// DefaultChanges is the folder of a project that holds its code changes, in
// changes/<id>. It is what Agentd reads.
const DefaultChanges = "agentd"

type changesKey struct{}

// WithChanges is ctx for a project that keeps its code changes in another folder, a
// path inside the project with slashes. Main sets it once, by the configuration.
func WithChanges(ctx context.Context, folder string) context.Context {
	return context.WithValue(ctx, changesKey{}, folder)
}

// ChangesOf is the folder of a project that holds its code changes:
// [DefaultChanges] where none was set.
func ChangesOf(ctx context.Context) string {
	if folder, ok := ctx.Value(changesKey{}).(string); ok && folder != "" {
		return folder
	}
	return DefaultChanges
}
