package cpu

import (
	"fmt"
	"reflect"
	"sync"

	"github.com/gaprof/gaprof/reference/device"
	"github.com/gaprof/gaprof/reference/ops"
)

// implementation holds the functions for one type of operation, by precision.
type implementation map[device.DType]func(device.Kernel)

// table is built by the first who asks: most runs of the program train nothing.
var table = sync.OnceValue(func() map[reflect.Type]implementation {
	return map[reflect.Type]implementation{
		reflect.TypeFor[ops.Embedding]():         numbers(embedding[float32], embedding[float64]),
		reflect.TypeFor[ops.EmbeddingBackward](): numbers(embeddingBackward[float32], embeddingBackward[float64]),
		reflect.TypeFor[ops.AddPositions]():      numbers(addPositions[float32], addPositions[float64]),
		reflect.TypeFor[ops.PositionsBackward](): numbers(positionsBackward[float32], positionsBackward[float64]),
		reflect.TypeFor[ops.LayerNorm]():         numbers(layerNormSingle, layerNorm[float64]),
		reflect.TypeFor[ops.LayerNormBackward](): numbers(layerNormBackwardSingle, layerNormBackward[float64]),
		reflect.TypeFor[ops.Linear]():            numbers(linear[float32], linear[float64]),
		reflect.TypeFor[ops.LinearInput]():       numbers(linearInput[float32], linearInput[float64]),
		reflect.TypeFor[ops.LinearWeight]():      numbers(linearWeight[float32], linearWeight[float64]),
		reflect.TypeFor[ops.LinearBias]():        numbers(linearBias[float32], linearBias[float64]),
		reflect.TypeFor[ops.Attention]():         numbers(attention[float32], attention[float64]),
		reflect.TypeFor[ops.AttentionBackward](): numbers(attentionBackward[float32], attentionBackward[float64]),
		reflect.TypeFor[ops.FlashAttention]():    numbers(flashAttention[float32], flashAttention[float64]),
		reflect.TypeFor[ops.FlashAttentionBackward](): numbers(
			flashAttentionBackward[float32], flashAttentionBackward[float64]),
		reflect.TypeFor[ops.RMSNorm]():         numbers(rmsNormSingle, rmsNorm[float64]),
		reflect.TypeFor[ops.RMSNormBackward](): numbers(rmsNormBackwardSingle, rmsNormBackward[float64]),
		reflect.TypeFor[ops.RoPE]():            numbers(rope[float32], rope[float64]),
		reflect.TypeFor[ops.Silu]():            numbers(silu[float32], silu[float64]),
		reflect.TypeFor[ops.SiluBackward]():    numbers(siluBackward[float32], siluBackward[float64]),
		reflect.TypeFor[ops.Product]():         numbers(product[float32], product[float64]),
		reflect.TypeFor[ops.SwiGLU]():          numbers(swiGLU[float32], swiGLU[float64]),
		reflect.TypeFor[ops.SwiGLUBackward]():  numbers(swiGLUBackward[float32], swiGLUBackward[float64]),
		reflect.TypeFor[ops.Concat]():          numbers(concat[float32], concat[float64]),
		reflect.TypeFor[ops.Gelu]():            numbers(geluSingle, gelu[float64]),
		reflect.TypeFor[ops.GeluBackward]():    numbers(geluBackwardSingle, geluBackward[float64]),
		reflect.TypeFor[ops.Add]():             numbers(add[float32], add[float64]),
		reflect.TypeFor[ops.CrossEntropy]():    numbers(crossEntropySingle, crossEntropy[float64]),
		reflect.TypeFor[ops.CrossEntropyBackward](): numbers(
			crossEntropyBackwardSingle, crossEntropyBackward[float64]),
		reflect.TypeFor[ops.ScaleBy]():     numbers(scaleBy[float32], scaleBy[float64]),
		reflect.TypeFor[ops.Raise]():       numbers(raise[float32], raise[float64]),
		reflect.TypeFor[ops.AtLeast]():     numbers(atLeast[float32], atLeast[float64]),
		reflect.TypeFor[ops.AddScaled]():   numbers(addScaled[float32], addScaled[float64]),
		reflect.TypeFor[ops.AddProduct]():  numbers(addProduct[float32], addProduct[float64]),
		reflect.TypeFor[ops.Roots]():       numbers(roots[float32], roots[float64]),
		reflect.TypeFor[ops.Quotient]():    numbers(quotient[float32], quotient[float64]),
		reflect.TypeFor[ops.Lerp]():        numbers(lerp[float32], lerp[float64]),
		reflect.TypeFor[ops.MatMul]():      numbers(matMul[float32], matMul[float64]),
		reflect.TypeFor[ops.CountTokens](): {device.I64: call(countTokens)},
		reflect.TypeFor[ops.Accumulate](): {
			device.F32: call(accumulate[float32]),
			device.F64: call(accumulate[float64]),
			device.I64: call(accumulateCounts),
		},
		reflect.TypeFor[ops.Scale]():              numbers(scale[float32], scale[float64]),
		reflect.TypeFor[ops.ForeachScale]():       numbers(foreachScale[float32], foreachScale[float64]),
		reflect.TypeFor[ops.ForeachScaleBy]():     numbers(foreachScaleBy[float32], foreachScaleBy[float64]),
		reflect.TypeFor[ops.ForeachNorm]():        numbers(foreachNorm[float32], foreachNorm[float64]),
		reflect.TypeFor[ops.VectorNorm]():         numbers(vectorNorm[float32], vectorNorm[float64]),
		reflect.TypeFor[ops.Sqrt]():               numbers(sqrt[float32], sqrt[float64]),
		reflect.TypeFor[ops.AddScalar]():          numbers(addScalar[float32], addScalar[float64]),
		reflect.TypeFor[ops.Reciprocal]():         numbers(reciprocal[float32], reciprocal[float64]),
		reflect.TypeFor[ops.MulScalar]():          numbers(mulScalar[float32], mulScalar[float64]),
		reflect.TypeFor[ops.Mul]():                numbers(mul[float32], mul[float64]),
		reflect.TypeFor[ops.MulInto]():            numbers(mulInto[float32], mulInto[float64]),
		reflect.TypeFor[ops.Clamp]():              numbers(clamp[float32], clamp[float64]),
		reflect.TypeFor[ops.OnesLike]():           numbers(onesLike[float32], onesLike[float64]),
		reflect.TypeFor[ops.ForeachCopy]():        numbers(foreachCopy[float32], foreachCopy[float64]),
		reflect.TypeFor[ops.SplitWithSizesCopy](): numbers(splitWithSizesCopy[float32], splitWithSizesCopy[float64]),
		reflect.TypeFor[ops.ChunkCat]():           numbers(chunkCat[float32], chunkCat[float64]),
		reflect.TypeFor[ops.AdamW]():              numbers(adamWSingle, adamW[float64]),
		reflect.TypeFor[ops.Cast]():               numbers(cast[float32], cast[float64]),
		reflect.TypeFor[ops.SGD]():                numbers(sgdSingle, sgd[float64]),
	}
})

// numbers implements an operation in both precisions.
func numbers[K device.Kernel](single, double func(K)) implementation {
	return implementation{device.F32: call(single), device.F64: call(double)}
}

func call[K device.Kernel](f func(K)) func(device.Kernel) {
	return func(k device.Kernel) { f(k.(K)) }
}

// find returns the function that runs k.
func find(k device.Kernel) (func(device.Kernel), error) {
	if f := table()[reflect.TypeOf(k)][k.Type()]; f != nil {
		return f, nil
	}
	return nil, fmt.Errorf("cpu: %T is not done in %s", k, k.Type())
}
