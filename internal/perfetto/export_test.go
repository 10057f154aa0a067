package perfetto

// What tests that read the output as text use.
var (
	Small      = small
	Same       = same
	WriteBytes = write
)
