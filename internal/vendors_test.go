package internal

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// vendorsHome is the one package that knows vendors by name.
const vendorsHome = "internal/vendors"

// otherVendorWords are exceptions: a file or a folder, and the words that texts in it may have. A word that no text has
// any more has to go.
var otherVendorWords = map[string]string{
	// The other implementation's own rules and names, with their faults.
	"internal/critpath/hta/": `cuda_runtime cuda_driver cuda_sync wait_on_cuda_event_record_corr_id cudaHostAlloc cudaLaunchKernel cudaMemcpyAsync
		cudaDeviceSynchronize cudaStreamSynchronize cudaEventQuery cudaEventSynchronize cudaMemcpy cudaLaunchKernelExC cuLaunchKernel cuLaunchKernelEx
		cudaMemsetAsync hipLaunchKernel hipExtModuleLaunchKernel hipMemsetAsync hipMemcpyAsync hipMemcpyWithStream cudaEventRecord cudaStreamWaitEvent
		nccl hip hccl ncclKernel`,
	// Keys of JSON that PyTorch writes.
	"internal/clock/witness.go": `wait_on_cuda_event_record_corr_id`,
	"internal/anonymize/vocabulary.go": `wait_on_cuda_event_id wait_on_cuda_event_record_corr_id cuda_sync_kind cuda_event_id cuda_runtime_version cuda_driver_version
		cupti_version roctracer_version hip_runtime_version hip_driver_version nccl_version`,
	// Kineto's categories, and a key, for events of PyTorch that have no category.
	"internal/frompftrace/": `cuda_sync_kind cuda_sync cuda_runtime cuda_driver cuda`,
	// Tables of profilers of two vendors, their names, and what the third one calls its domains of calls.
	"internal/fromsqlite/": `nccl ncclGroup ncclGroupStart ncclGroupEnd ncclSend ncclRecv ENUM_CUDA_MEM_KIND CUPTI_ACTIVITY_KIND_RUNTIME CUPTI_ACTIVITY_KIND_KERNEL CUPTI_ACTIVITY_KIND_MEMCPY CUPTI_ACTIVITY_KIND_MEMSET
		CUPTI_ACTIVITY_KIND_GRAPH_TRACE CUPTI_ACTIVITY_KIND_CUDA_EVENT CUPTI_ACTIVITY_KIND_SYNCHRONIZATION CUDA cuda cuda_sync cuda_sync_kind
		wait_on_cuda_event_record_corr_id wait_on_cuda_event_id HIP_ hip_api RCCL_ rccl_api NPU_INFO CANN_API cann_api ascend_task Ascend ascend_pytorch_profiler`,
	// Lists of a profiler's JSON.
	"internal/fromrocprof/": `hip_api`,
	// The paper's name for calls of any runtime, in its tables.
	"internal/critpath/ctda_time.go": `cuda_runtime`,
	// Paths of files in PyTorch and in a library that loads data.
	"internal/cdg/phases/rules.go": `cuda nvidia`,
	// Sentences for people, and what they have to type.
	"internal/kineto/survey.go":    `CUDA CUPTI enable_cuda_sync_events`,
	"internal/kineto/otherfile.go": `NCCL nccl_version`,
	"internal/advise/": `cudagraph_mode cuda_sync nccl cudaStreamSynchronize cuda CUDA cudagraph CUDAGraphNode CUDA_LAUNCH_BLOCKING HIP_LAUNCH_BLOCKING
		AMD_SERIALIZE_KERNEL gloo`,
	"internal/advise/jobadvice/": `nccl NCCL_DEBUG`,
	"internal/ranks/causes.go":   `nvidia rocm`,
	// Titles and addresses of data sheets.
	"internal/report/gaps.go":    `enable_cuda_sync_events`,
	"internal/report/flights.go": `TORCH_NCCL_ENABLE_TIMING`,
	// The benchmark whose way of counting a table follows.
	"internal/report/job_sections.go": `nccl`,
	"internal/analyses/rows.go":       `CUDA`,
}

// TestVendorsAreKnownInOnePlace looks for names of vendors in texts outside of their home.
func TestVendorsAreKnownInOnePlace(t *testing.T) {
	used := map[string]bool{}
	programFiles(t, []string{vendorsHome, "internal/testtrace"}, func(name string, src []byte) {
		place := name
		if _, ok := otherVendorWords[place]; !ok {
			place = name[:strings.LastIndexByte(name, '/')+1]
		}
		for _, w := range vendorWords(name, src) {
			if slices.Contains(strings.Fields(otherVendorWords[place]), w.what) {
				used[place+" "+w.what] = true
				continue
			}
			t.Errorf("%s:%d: %q speaks of a vendor: that belongs to %s", name, w.line, w.what, vendorsHome)
		}
	})
	for place, words := range otherVendorWords {
		if words == "" {
			t.Errorf("%s has no exceptions: its line can go", place)
		}
		for w := range strings.FieldsSeq(words) {
			if !used[place+" "+w] {
				t.Errorf("%s has no %q any more: its exception can go", place, w)
			}
		}
	}
}

// TestPlantedVendors shows that the check finds what it is for, and only that.
func TestPlantedVendors(t *testing.T) {
	for src, want := range map[string]string{
		`"cudaLaunchKernel"`:                        "cudaLaunchKernel",
		`x == "cuMemFree_v2"`:                       "cuMemFree_v2",
		"regexp.MustCompile(`(?i)(nccl|gloo):`)":    "nccl gloo",
		`"pt_nccl_"`:                                "pt_nccl_",
		`strings.HasPrefix(n, "hipModule")`:         "hipModule",
		`"hip" + name`:                              "hip",
		`map[string]int{"xpu_runtime": 1}`:          "xpu_runtime",
		`"mtia_ccp_events"`:                         "mtia_ccp_events",
		`"async_npu"`:                               "async_npu",
		`"NPU %d"`:                                  "NPU",
		`"Ascend Hardware"`:                         "Ascend",
		`"CANN"`:                                    "CANN",
		`"hpu_op, oneCCL"`:                          "hpu_op oneCCL",
		`"aclrtSynchronizeStream"`:                  "aclrtSynchronizeStream",
		`"torch.cuda.synchronize"`:                  "cuda",
		`"AMD ROCm"`:                                "AMD ROCm",
		`"Intel GPUs"`:                              "Intel",
		`struct{ X int "json:\"cuda_x\"" }{}`:       "cuda_x",
		`"the input, the output"`:                   "",
		`"cannot reach this; a relationship"`:       "",
		`"clipped, shipped, in ascending order"`:    "",
		`"Current custom process documents"`:        "",
		`"StreamSynchronize"`:                       "",
		`"intelligence of a procedure in amdahl's"`: "",
	} {
		var got []string
		for _, w := range vendorWords("a.go", []byte("package p\nvar _ = "+src)) {
			got = append(got, w.what)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: got %q, want %q", src, got, want)
		}
	}
}

// Names of vendors are looked for in words: anywhere, or where a word or a part of one starts with a short one.
var (
	anyWord    = regexp.MustCompile(`\w+`)
	vendorName = regexp.MustCompile(`(?i:cuda|nccl|rccl|hccl|xccl|oneccl|mtia|nvidia|rocm|roctracer|cupti|habana|privateuse|gaudi)` +
		`|(?:^|_)(?i:hip|xpu|npu|hpu|amd|cann|ascend|intel|gloo|ucc)(?:$|[_\d])` +
		`|^(?:hip|xpu|npu|aclrt|cu)[A-Z]`)
)

// vendorWord is a word in a text of a source file.
type vendorWord struct {
	line int
	what string
}

// vendorWords lists the words that name a vendor.
func vendorWords(file string, src []byte) (list []vendorWord) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, filepath.FromSlash(file), src, parser.SkipObjectResolution)
	if err != nil {
		return []vendorWord{{0, fmt.Sprint(err)}}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.BasicLit:
			if x.Kind == token.STRING {
				s, _ := strconv.Unquote(x.Value)
				for _, w := range anyWord.FindAllString(s, -1) {
					if vendorName.MatchString(w) {
						list = append(list, vendorWord{fset.Position(x.Pos()).Line, w})
					}
				}
			}
		}
		return true
	})
	return list
}
