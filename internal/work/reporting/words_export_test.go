package reporting

// NotEnded is why a report is partial.
var NotEnded = notEnded

// Roles are those that agents have in a report.
func Roles() (list []string) {
	for _, r := range roles {
		list = append(list, r.role)
	}
	return list
}
