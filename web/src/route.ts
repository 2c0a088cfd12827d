// The address: what the page shows is in the fragment, which browsers never send.
import { signal } from "@preact/signals";

export const sessionViews =
  ["timeline", "log", "tasks", "agents", "processes", "usage", "policy", "channels"] as const;
export type SessionView = typeof sessionViews[number];

export type Route =
  | { page: "sessions" }
  | { page: "inbox" }
  | { page: "session"; sessionId: string; view: SessionView; at: number | null;
      thread: string | null }
  | { page: "unknown"; path: string };

export function readRoute(hash: string): Route {
  const [path = "", query = ""] = hash.replace(/^#/, "").split("?");
  const [first = "", id = "", view = ""] = path.split("/").filter(Boolean).map(decode);
  const params = new URLSearchParams(query);
  if (!first) return { page: "sessions" };
  if (first === "inbox") return { page: "inbox" };
  const known = view === "" ? "timeline" : sessionViews.find((each) => each === view);
  if (first !== "session" || !id || !known) return { page: "unknown", path };
  const at = Number(params.get("at"));
  return { page: "session", sessionId: id, view: known,
    at: Number.isSafeInteger(at) && at > 0 ? at : null, thread: params.get("thread") };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export const route = signal<Route>(readRoute(location.hash));
addEventListener("hashchange", () => { route.value = readRoute(location.hash); });

export function go(path: string, options: { replace?: boolean } = {}): void {
  const hash = `#${path}`;
  if (options.replace) history.replaceState(null, "", hash);
  else if (location.hash !== hash) history.pushState(null, "", hash);
  route.value = readRoute(hash);
}

export function sessionPath(sessionId: string, view: SessionView = "timeline",
                            options: { at?: number | null; thread?: string | null } = {}): string {
  const params = new URLSearchParams();
  if (options.at) params.set("at", String(options.at));
  if (options.thread) params.set("thread", options.thread);
  const query = params.toString();
  return `/session/${encodeURIComponent(sessionId)}${view === "timeline" ? "" : `/${view}`}` +
    (query ? `?${query}` : "");
}
