//go:build !amd64

package simd

// Where there is no assembly, the level is Plain, and none of these is called.

func addLoop(y *float32, a *float32, b *float32, n int, wide bool)  { panic(Plain) }
func scaleLoop(y *float32, x *float32, n int, f float32, wide bool) { panic(Plain) }
func expLoop(y *float32, x *float32, n int, shift float32, f float32, s *[16]float64, wide bool) {
	panic(Plain)
}
func maxLoop(x *float32, n int, m *[16]float32, wide bool)                      { panic(Plain) }
func geluLoop(y *float32, x *float32, n int, wide bool)                         { panic(Plain) }
func geluBackwardLoop(dx *float32, dy *float32, x *float32, n int, wide bool)   { panic(Plain) }
func sumLoop(x *float32, n int, s *[16]float64, wide bool)                      { panic(Plain) }
func squaresLoop(x *float32, n int, mean float64, s *[16]float64, wide bool)    { panic(Plain) }
func dotLoop(a *float32, b *float32, n int, s *[16]float64, wide bool)          { panic(Plain) }
func softmaxBackwardLoop(d *float32, p *float32, n int, dot float32, wide bool) { panic(Plain) }
func normLoop(y, x, w, b *float32, n int, mean, rstd float32, wide bool) {
	panic(Plain)
}
func normSumsLoop(dw, db, dy, x, w *float32, n int, mean, rstd float32, s, dot *[16]float64, wide bool) {
	panic(Plain)
}
func normBackwardLoop(dx, dy, x, w *float32, n int, mean, rstd, a, b float32, wide bool) {
	panic(Plain)
}
func adamWLoop(p, g, m, v *float32, n int, f, b1, c1, b2, c2, decay, rate, root, eps float32, wide bool) {
	panic(Plain)
}
func sgdLoop(p *float32, grad *float32, n int, f float32, decay float32, rate float32, wide bool) {
	panic(Plain)
}
