package timeline

import "testing"

const accumulateGrad = "cpu_op torch::autograd::AccumulateGrad"

func TestLaunchSite(t *testing.T) {
	const launch = `
1/1 100 +5 cuda_runtime cudaLaunchKernelExC corr=1
0/9 200 +30 kernel ncclDevKernel_ReduceScatter_Sum_f32_RING_LL corr=1
`
	for _, test := range []struct {
		name, source string
		want         LaunchSite
	}{
		{"nothing around", launch, UnknownSite},
		{"optimizer", "1/1 50 +90 user_annotation Optimizer.step#A.step" + launch,
			LaunchSite{Site: SiteOptimizerStep, Name: "A"}},
		{"innermost optimizer", "1/1 50 +90 user_annotation Optimizer.step#A.step\n" +
			"1/1 51 +80 user_annotation Optimizer.step#B.step" + launch,
			LaunchSite{Site: SiteOptimizerStep, Name: "B"}},
		{"a hook under an optimizer step is still a hook", "1/1 50 +90 user_annotation Optimizer.step#A.step\n" +
			"1/1 60 +50 " + accumulateGrad + launch, LaunchSite{Site: SiteBackwardHook}},
		{"backward around an annotation", "1/1 50 +90 cpu_op \"autograd::engine::evaluate_function: AddBackward0\"\n" +
			"1/1 60 +50 user_annotation mine" + launch, LaunchSite{Site: SiteBackwardHook}},
		{"framework", "1/1 50 +90 cpu_op FSDP::post_backward_reduce" + launch,
			LaunchSite{Site: SiteFrameworkHook, Name: "FSDP::post_backward_reduce"}},
		{"framework inside an annotation", "1/1 50 +90 user_annotation mine\n" +
			"1/1 60 +50 cpu_op FSDP::all_gather" + launch,
			LaunchSite{Site: SiteFrameworkHook, Name: "FSDP::all_gather"}},
		{"annotation", "1/1 50 +90 user_annotation mine" + launch, LaunchSite{Site: SiteAnnotation, Name: "mine"}},
		{"an annotation inside an optimizer step", "1/1 50 +90 user_annotation Optimizer.step#A.step\n" +
			"1/1 60 +50 user_annotation mine" + launch, LaunchSite{Site: SiteOptimizerStep, Name: "A"}},
		{"an optimizer step inside an annotation", "1/1 40 +110 user_annotation mine\n" +
			"1/1 50 +90 user_annotation Optimizer.step#A.step" + launch, LaunchSite{Site: SiteOptimizerStep,
			Name: "A"}},
		{"a span of FSDP inside an optimizer step", "1/1 50 +90 user_annotation Optimizer.step#A.step\n" +
			"1/1 60 +50 cpu_op FSDP::all_gather" + launch, LaunchSite{Site: SiteOptimizerStep, Name: "A"}},
		{"an annotation inside a span of FSDP", "1/1 50 +90 cpu_op FSDP::all_gather\n" +
			"1/1 60 +50 user_annotation mine" + launch,
			LaunchSite{Site: SiteFrameworkHook, Name: "FSDP::all_gather"}},
		{"the innermost annotation", "1/1 50 +90 user_annotation outer\n" +
			"1/1 60 +50 user_annotation \" inner \"" + launch, LaunchSite{Site: SiteAnnotation, Name: "inner"}},
		{"a hook under FSDP, an annotation and a step", "1/1 50 +90 user_annotation Optimizer.step#A.step\n" +
			"1/1 51 +88 cpu_op FSDP::post_backward_reduce\n1/1 52 +80 user_annotation mine\n" +
			"1/1 60 +50 " + accumulateGrad + "\n1/1 70 +35 user_annotation deeper" + launch,
			LaunchSite{Site: SiteBackwardHook}},
		{"a thread of backward, inside an annotation", "1/1 10 +9 cpu_op \"autograd::engine::evaluate_function: " +
			"AddBackward0\"\n1/1 50 +90 user_annotation mine" + launch, LaunchSite{Site: SiteBackwardHook}},
		{"a thread of backward that steps optimizers, too", "1/1 10 +9 cpu_op \"autograd::engine::evaluate_function: " +
			"AddBackward0\"\n1/1 50 +90 user_annotation Optimizer.step#A.step" + launch,
			LaunchSite{Site: SiteOptimizerStep, Name: "A"}},
		{"an operator is no annotation", "1/1 50 +90 cpu_op aten::mul_" + launch, UnknownSite},
		{"neither the profiler nor nccl nor compiled code decides", "1/1 50 +90 user_annotation ProfilerStep#1\n" +
			"1/1 60 +80 user_annotation nccl:_reduce_scatter_base\n" +
			"1/1 70 +60 user_annotation \"## Call CompiledFxGraph x ##\"" + launch, UnknownSite},
		{"a span that ended before", "1/1 50 +50 user_annotation Optimizer.step#A.step" + launch, UnknownSite},
		{"a child that outlasts its parent by rounding", "1/1 50 +53 user_annotation Optimizer.step#A.step" + launch,
			LaunchSite{Site: SiteOptimizerStep, Name: "A"}},
		{"a thread of backward", "1/1 10 +9 cpu_op \"autograd::engine::evaluate_function: AddBackward0\"" + launch,
			LaunchSite{Site: SiteBackwardHook}},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := only(t, test.source)
			if got := r.SiteOf(r.Devices[0].Launch[0]); got != test.want {
				t.Errorf("%+v, want %+v", got, test.want)
			}
		})
	}
}
