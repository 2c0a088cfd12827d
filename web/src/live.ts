// Whether the page is connected, and which windows may hold a stream open.
//
// Browsers open six HTTP/1.1 connections per host, so at most four windows stream; the others read
// pages. A window holds one of four locks while it streams; the browser frees the lock when the
// window closes or freezes.
import { signal } from "@preact/signals";

export type ConnectionState = "live" | "behind" | "reconnecting" | "offline" | "signed_out";

export const connection = signal<ConnectionState>("behind");

const streamsMax = 4;
export const pollMs = 2_000;
export const hiddenMs = 5_000;       // a hidden tab closes its stream after this time
const wakeCheckMs = 5_000;
const asleepMs = 20_000;             // a timer that is this late: the machine slept

export function setConnection(state: ConnectionState): void {
  connection.value = navigator.onLine === false && state !== "signed_out" ? "offline" : state;
}

// Resolves to a function that gives the slot back, or to null if all slots are taken.
export function takeSlot(): Promise<(() => void) | null> {
  const locks = (navigator as { locks?: LockManager }).locks;
  if (!locks) return Promise.resolve(() => {});  // not a secure context: no census of windows
  const attempt = (number: number): Promise<(() => void) | null> => {
    if (number === streamsMax) return Promise.resolve(null);
    return new Promise((resolve) => {
      void locks.request(`agentrt.stream.${number}`, { ifAvailable: true }, (lock) => {
        if (!lock) {
          resolve(attempt(number + 1));
          return undefined;
        }
        return new Promise<void>((release) => resolve(() => release()));
      });
    });
  };
  return attempt(0);
}

// Calls `restart` when a connection may have died unnoticed: after sleep, and when the network is
// back. Returns a function that stops watching.
export function onWake(restart: () => void): () => void {
  let last = Date.now();
  const timer = setInterval(() => {
    const present = Date.now();
    if (present - last > asleepMs) restart();
    last = present;
  }, wakeCheckMs);
  const offline = () => setConnection("offline");
  addEventListener("online", restart);
  addEventListener("offline", offline);
  return () => {
    clearInterval(timer);
    removeEventListener("online", restart);
    removeEventListener("offline", offline);
  };
}

// Runs `start` while the page is visible. `start` returns a function that ends it. A page that is
// hidden for longer than hiddenMs ends it, and starts it again when it is shown.
export function whileVisible(start: () => () => void): () => void {
  let end: (() => void) | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const change = () => {
    clearTimeout(timer);
    if (document.visibilityState === "visible") end ??= start();
    else timer = setTimeout(() => {
      end?.();
      end = null;
    }, hiddenMs);
  };
  document.addEventListener("visibilitychange", change);
  change();
  return () => {
    clearTimeout(timer);
    document.removeEventListener("visibilitychange", change);
    end?.();
    end = null;
  };
}
