package driver

// EndResting ends the supervisors that wait for an agent.
func EndResting() {
	resting.Lock()
	defer resting.Unlock()
	for _, s := range resting.list {
		if s.retire.Stop() {
			s.end()
		}
	}
	resting.list = nil
}
