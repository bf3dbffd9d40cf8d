package report

import "slices"

// level is the largest size to which all sizes can be limited so that together
// they fit into room: small things keep their size, large ones share the rest.
// It is the largest size itself when everything fits.
func level(sizes []int, room int) int {
	sorted := slices.Sorted(slices.Values(sizes))
	for i, size := range sorted {
		if share := room / (len(sorted) - i); size > share {
			return max(share, 0)
		}
		room -= size
	}
	if len(sorted) == 0 {
		return 0
	}
	return sorted[len(sorted)-1]
}
