package analyze

// notNil returns an empty list for a nil one, so that consumers of the JSON form
// never find null where a list belongs.
func notNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
