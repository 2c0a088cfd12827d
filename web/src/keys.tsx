// Keyboard shortcuts. A key never answers an approval, except on the focused card.
import { useEffect, useRef } from "preact/hooks";
import { go, route, sessionPath, sessionViews } from "./route";

const list: Array<[string, string]> = [
  ["?", "show or hide this list"],
  ["g s", "all sessions"],
  ["g i", "inbox"],
  ["/", "go to the filter or the prompt"],
  ["1 … 7", "the views of a session"],
  ["j, k", "next and previous row"],
  ["Enter", "open the focused row"],
  ["[, ]", "one fact back or forward in time"],
  ["Escape", "return to the present; close this list"],
  ["a, d", "allow or deny the focused approval card"],
];

function typing(target: EventTarget | null): boolean {
  return target instanceof HTMLElement &&
    (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
}

function moveFocus(step: number): void {
  const rows = [...document.querySelectorAll<HTMLElement>("[data-row]")];
  const at = rows.indexOf(document.activeElement as HTMLElement);
  rows[Math.min(Math.max(at + step, 0), rows.length - 1)]?.focus();
}

export function useKeys(toggleHelp: () => void): void {
  useEffect(() => {
    let leader = false;
    const press = (event: KeyboardEvent) => {
      if (event.metaKey || event.ctrlKey || event.altKey || event.isComposing) return;
      if (typing(event.target)) return;
      const at = route.value;
      const led = leader;
      leader = false;
      if (led && event.key === "s") return go("/");
      if (led && event.key === "i") return go("/inbox");
      if (event.key === "g") leader = true;
      else if (event.key === "?") toggleHelp();
      else if (event.key === "j") moveFocus(1);
      else if (event.key === "k") moveFocus(-1);
      else if (event.key === "/") {
        event.preventDefault();
        document.querySelector<HTMLElement>("[data-primary-input]")?.focus();
      } else if (at.page === "session" && /^[1-7]$/.test(event.key)) {
        go(sessionPath(at.sessionId, sessionViews[Number(event.key) - 1]!, at));
      }
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);
}

export function Keys({ onClose }: { onClose: () => void }) {
  const ref = useRef<HTMLDialogElement>(null);
  useEffect(() => ref.current?.showModal(), []);
  return <dialog ref={ref} class="dialog" aria-labelledby="keys-title" onClose={onClose}
    onClick={(event) => { if (event.target === ref.current) onClose(); }}>
    <h2 id="keys-title">Keyboard</h2>
    <dl class="keys">{list.map(([keys, what]) =>
      <div key={keys}><dt><kbd>{keys}</kbd></dt><dd>{what}</dd></div>)}</dl>
    <button type="button" class="button" onClick={onClose}>Close</button>
  </dialog>;
}
