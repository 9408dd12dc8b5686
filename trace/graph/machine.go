package graph

// Role is what a node does to others that run on the same domain at the same time.
type Role uint8

// The roles.
const (
	Light    Role = iota // nothing: calls of the host, copies
	Compute              // takes a part of the domain, and is slowed while a transfer runs there
	Filling              // as Compute, and leaves no room in which a Transfer could start
	Transfer             // moves data between domains, and slows what computes
)

// Machine says which nodes get in each other's way. A domain is what they share: a device.
type Machine struct {
	Role     []Role  // by node; nodes beyond the end are Light
	Domain   []int32 // by resource, None for none
	Priority []int8  // by resource: a Transfer of a higher number starts while a domain is filled
	Slow     int64   // what computes takes so many thousandths of its time beside a transfer; 1000 for no slower
	Exclude  bool    // a Transfer does not start while something of its priority or a higher one fills the domain
}

// domain is what runs on a domain at a time.
type domain struct {
	filling   []filler // what fills it
	computing []int32  // nodes that compute, filling ones among them
	waiting   []int32  // transfers that could start but for what fills it, in their order
	transfers int      // that move data
}

// filler is a node that fills a domain.
type filler struct {
	node     Node
	priority int8
}

// blocks reports whether a transfer of a priority has to wait.
func (d *domain) blocks(priority int8) bool {
	for _, f := range d.filling {
		if f.priority >= priority {
			return true
		}
	}
	return false
}

// role is that of a node.
func (m *Machine) role(n Node) Role {
	if int(n) < len(m.Role) {
		return m.Role[n]
	}
	return Light
}

// domainOf is that of a resource, None for none.
func (m *Machine) domainOf(resource int32) int32 {
	if resource == None || int(resource) >= len(m.Domain) {
		return None
	}
	return m.Domain[resource]
}

// priorityOf is that of a resource.
func (m *Machine) priorityOf(resource int32) int8 {
	if resource == None || int(resource) >= len(m.Priority) {
		return 0
	}
	return m.Priority[resource]
}

// domains is how many there are.
func (m *Machine) domains() int {
	n := int32(0)
	for _, d := range m.Domain {
		n = max(n, d+1)
	}
	return int(n)
}
