package analyze

// notNil makes an empty list of an absent one, so that consumers of the JSON form
// never meet null where a list belongs.
func notNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
