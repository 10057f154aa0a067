package roofline

// Document is where figures of devices were published. Address is empty where no public one is known.
type Document struct {
	Title   string
	Address string
}

// sheets are the documents that peaks come from. Data sheets print products with sparsity, or a footnote that says so: those were halved.
// Where a document gives a figure for a card of two dies, half of it is that of a device.
var sheets = map[string]Document{
	"blackwell": {"NVIDIA Blackwell data sheet, 3384703 (HGX B200, GB200 NVL72: by GPU)", "https://nvdam.widen.net/s/wwnsxrhm2w/blackwell-datasheet-3384703"},
	"gh200":     {"NVIDIA GH200 Grace Hopper Superchip data sheet, 2705455", "https://nvdam.widen.net/content/tf2prbffgy/original/grace-hopper-superchip-datasheet-nvidia-2705455.pdf"},
	"h200":      {"NVIDIA H200 Tensor Core GPU data sheet, 3002446", "https://nvdam.widen.net/s/nb5zzzsjdf/hpc-datasheet-sc23-h200-datasheet-3002446"},
	"h20":       {"no data sheet of the H20 is public: figures as makers of servers print them", ""},
	"h100":      {"NVIDIA H100 Tensor Core GPU data sheet", "https://resources.nvidia.com/en-us-gpu-resources/h100-datasheet-24306"},
	"hopper":    {"NVIDIA H100 Tensor Core GPU Architecture (clocks, units and caches)", "https://resources.nvidia.com/en-us-tensor-core/gtc22-whitepaper-hopper"},
	"a100":      {"NVIDIA A100 Tensor Core GPU data sheet, 1758950 r4", "https://www.nvidia.com/content/dam/en-zz/Solutions/Data-Center/a100/pdf/nvidia-a100-datasheet-us-nvidia-1758950-r4-web.pdf"},
	"ampere":    {"NVIDIA A100 Tensor Core GPU Architecture (caches)", "https://images.nvidia.com/aem-dam/en-zz/Solutions/data-center/nvidia-ampere-architecture-whitepaper.pdf"},
	"ga102":     {"NVIDIA Ampere GA102 GPU Architecture, 2.1", "https://www.nvidia.com/content/PDF/nvidia-ampere-ga-102-gpu-architecture-whitepaper-v2.1.pdf"},
	"a10g":      {"NVIDIA A10G Tensor Core GPU data sheet for AWS, 17 February 2022", ""},
	"a10":       {"NVIDIA A10 Tensor Core GPU data sheet", "https://www.nvidia.com/content/dam/en-zz/Solutions/Data-Center/a10/pdf/a10-datasheet.pdf"},
	"a30":       {"NVIDIA A30 Tensor Core GPU data sheet", "https://www.nvidia.com/content/dam/en-zz/Solutions/data-center/products/a30-gpu/pdf/a30-datasheet.pdf"},
	"a40":       {"NVIDIA A40 data sheet, 1469711 r8", "https://www.nvidia.com/content/dam/en-zz/Solutions/Data-Center/a40/proviz-print-nvidia-a40-datasheet-us-nvidia-1469711-r8-web.pdf"},
	"a6000":     {"NVIDIA RTX A6000 data sheet", "https://www.nvidia.com/content/dam/en-zz/Solutions/products/workstations/nvidia-rtx-a6000-datasheet.pdf"},
	"rtx6000":   {"NVIDIA RTX 6000 Ada Generation data sheet", ""},
	"l40s":      {"NVIDIA L40S, specifications", "https://www.nvidia.com/en-us/data-center/l40s/"},
	"ada":       {"NVIDIA Ada GPU Architecture, 2.1 (RTX 6000 Ada, L40, L4)", "https://images.nvidia.com/aem-dam/Solutions/Data-Center/l4/nvidia-ada-gpu-architecture-whitepaper-v2.1.pdf"},
	"geforce40": {"NVIDIA Ada GPU Architecture (GeForce RTX 40)", "https://images.nvidia.com/aem-dam/Solutions/geforce/ada/nvidia-ada-gpu-architecture.pdf"},
	"geforce50": {"NVIDIA RTX Blackwell GPU Architecture, 1.1", "https://images.nvidia.com/aem-dam/Solutions/geforce/blackwell/nvidia-rtx-blackwell-gpu-architecture.pdf"},
	"v100":      {"NVIDIA V100 Tensor Core GPU data sheet, 1165301 r5", "https://images.nvidia.com/content/technologies/volta/pdf/volta-v100-datasheet-update-us-1165301-r5.pdf"},
	"volta":     {"NVIDIA Tesla V100 GPU Architecture, WP-08608-001 1.1 (caches)", "https://images.nvidia.com/content/volta-architecture/pdf/volta-architecture-whitepaper.pdf"},
	"pascal":    {"NVIDIA Tesla P100, WP-08019-001 1.1", "https://images.nvidia.com/content/pdf/tesla/whitepaper/pascal-architecture-whitepaper.pdf"},
	"t4":        {"NVIDIA T4 Tensor Core GPU data sheet, 951643", "https://www.nvidia.com/content/dam/en-zz/Solutions/Data-Center/tesla-t4/t4-tensor-core-datasheet-951643.pdf"},
	"mi355x":    {"AMD Instinct MI355X GPU brochure", "https://www.amd.com/content/dam/amd/en/documents/instinct-tech-docs/product-briefs/amd-instinct-mi355x-gpu-brochure.pdf"},
	"mi325x":    {"AMD Instinct MI325X Accelerator data sheet", "https://www.amd.com/content/dam/amd/en/documents/instinct-tech-docs/product-briefs/instinct-mi325x-datasheet.pdf"},
	"mi300a":    {"AMD Instinct MI300A APU data sheet", "https://www.amd.com/content/dam/amd/en/documents/instinct-tech-docs/data-sheets/amd-instinct-mi300a-data-sheet.pdf"},
	"mi300x":    {"AMD Instinct MI300X Accelerator data sheet", "https://www.amd.com/content/dam/amd/en/documents/instinct-tech-docs/data-sheets/amd-instinct-mi300x-data-sheet.pdf"},
	"cdna3":     {"AMD CDNA 3 Architecture white paper (caches)", "https://www.amd.com/content/dam/amd/en/documents/instinct-tech-docs/white-papers/amd-cdna-3-white-paper.pdf"},
	"mi250x":    {"AMD Instinct MI250X, product page: half of the card", "https://www.amd.com/en/products/accelerators/instinct/mi200/mi250x"},
	"reached":   {"AMD, Measuring Max-Achievable FLOPs, part 2 (shares that products reach)", "https://rocm.blogs.amd.com/software-tools-optimization/measuring-max-achievable-flops-part2/README.html"},
}

// sources are the documents that the figures of a device come from.
func (d *Device) sources() []Document {
	var list []Document
	for _, name := range d.from {
		list = append(list, sheets[name])
	}
	return list
}
