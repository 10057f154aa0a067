package kineto

import (
	"bytes"
	"strings"
)

// starts are how files begin that people take for traces, with what to do then. The bytes are those of each format's description.
var starts = []struct{ head, say string }{
	{"version https://git-lfs.github.com/", "it is a pointer of Git LFS, not the file: fetch it with 'git lfs pull'"},
	{"<", "it is HTML or XML, as when a download failed or needs a login"},
	{"BZh", "it is compressed with bzip2: unpack it first"},
	{"\xfd7zXZ\x00", "it is compressed with xz: unpack it first"},
	{"7z\xbc\xaf\x27\x1c", "it is an archive of 7-Zip: unpack it first"},
	{"Rar!", "it is a RAR archive: unpack it first"},
	{"\x04\x22\x4d\x18", "it is compressed with lz4: unpack it first"},
	{"PAR1", "it is a Parquet file: 'overlay query' and 'overlay report' take the folder that 'overlay export' wrote"},
	{"\xff\xfe", "it is text in UTF-16: write it as UTF-8"},
	{"\xfe\xff", "it is text in UTF-16: write it as UTF-8"},
	{"\x80\x02", "it is a Python pickle, as of a memory snapshot or a model"},
	{"\x80\x03", "it is a Python pickle, as of a memory snapshot or a model"},
	{"\x80\x04", "it is a Python pickle, as of a memory snapshot or a model"},
	{"\x80\x05", "it is a Python pickle, as of a memory snapshot or a model"},
	{"\x7fELF", "it is a program"},
	{"\x89PNG", "it is a picture"},
}

// noTrace says of a file that is no JSON what it is, where its beginning or its name tells.
func noTrace(name string, src []byte) string {
	const plain = "expected '{' or '[': this is no JSON trace"
	if strings.HasSuffix(name, ".nsys-rep") || strings.HasSuffix(name, ".qdrep") {
		return plain + "; of Nsight Systems give what 'nsys export --type sqlite' writes"
	}
	for _, x := range starts {
		if bytes.HasPrefix(src, []byte(x.head)) {
			return plain + "; " + x.say
		}
	}
	return plain
}
