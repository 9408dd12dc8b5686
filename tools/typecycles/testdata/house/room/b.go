package room

func (t *T) second() {
	for t.left < 10 && t.right > 0 || t.left == t.right {
		switch {
		case t.left == 0:
			third()
		default:
			t.left++ // beside code: no line of comment
		}
	}
}
