// A stored output: its beginning, more of it on request, and the whole of it as a file.
import { useEffect, useState } from "preact/hooks";
import { client } from "../auth";
import { bytes, clipLines, looksBinary, withoutAnsi } from "../text/format";
import { Diff } from "../text/diff";
import { Button, Copy } from "../ui/parts";

const readAtOnce = 256 * 1024;
const savedMax = 256 * 1024 * 1024;   // what is saved is in memory for a moment

// Reads the bytes behind a ref and gives them to the person as a file.
export async function saveOutput(outputRef: string, name: string): Promise<void> {
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  for await (const piece of client.value!.output(outputRef)) {
    size += piece.length;
    if (size > savedMax)
      throw new Error(`This output has more than ${bytes(savedMax)}: read it in ranges from ` +
        `/v1/outputs/${outputRef}.`);
    pieces.push(new Uint8Array(piece));
  }
  const url = URL.createObjectURL(new Blob(pieces));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

function Content({ text, size }: { text: string; size: number }) {
  if (looksBinary(text)) return <p class="muted">Not text: {bytes(size)} of other bytes.</p>;
  if (text.startsWith("diff --git") || text.startsWith("--- ")) return <Diff diff={text} />;
  return <pre class="output" tabIndex={0}>{clipLines(withoutAnsi(text))}</pre>;
}

export function Stored({ outputRef }: { outputRef: string }) {
  const [read, setRead] = useState<{ bytes: Uint8Array; end: boolean } | null>(null);
  const [wanted, setWanted] = useState(readAtOnce);
  const [problem, setProblem] = useState("");
  useEffect(() => {
    const abort = new AbortController();
    void (async () => {
      const known = read?.bytes ?? new Uint8Array();
      const pieces = [known];
      let size = known.length;
      for await (const piece of client.value!.output(outputRef,
        { start: size, end: wanted, signal: abort.signal })) {
        pieces.push(piece);
        size += piece.length;
      }
      const all = new Uint8Array(size);
      let at = 0;
      for (const piece of pieces) {
        all.set(piece, at);
        at += piece.length;
      }
      setRead({ bytes: all, end: size < wanted });
      setProblem("");
    })().catch((error: Error) => { if (!abort.signal.aborted) setProblem(error.message); });
    return () => abort.abort();
  }, [outputRef, wanted]);
  const save = () => {
    saveOutput(outputRef, "output.txt").then(() => setProblem(""),
      (error: Error) => setProblem(error.message));
  };
  return <div class="stored">
    {read && <Content text={new TextDecoder().decode(read.bytes)} size={read.bytes.length} />}
    <div class="stored-foot">
      {read && <span>{read.end ? bytes(read.bytes.length)
        : `the first ${bytes(read.bytes.length)}`}</span>}
      {read && !read.end && <Button small onClick={() => setWanted(wanted + readAtOnce)}>
        Show more</Button>}
      <Button small onClick={save}>Save as a file</Button>
      <Copy text={outputRef} label={outputRef.slice(0, 19)} />
      {problem && <span class="error-text" role="alert">{problem}</span>}
    </div>
  </div>;
}
