package synthesis

// Status is [GatePass] without a fault.
func (g Gate) Status() string {
	if len(g.Faults) == 0 {
		return GatePass
	}
	return GateFail
}
