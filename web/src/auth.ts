// Signing in. The page has no cookie: it trades a login code for a token, keeps the token in
// sessionStorage, and gives it to new tabs over a BroadcastChannel.
import { Agentrt, AgentrtError } from "agentrt";
import { signal } from "@preact/signals";
import { go } from "./route";

export interface Me {
  tokenId: string;
  scopes: string[];
  sessionId?: string;
  expiresAt?: string;
}

const tokenKey = "agentrt.token";
const shareWaitMs = 300;  // how long a new tab waits for a token from another one

export const client = signal<Agentrt | null>(null);
export const me = signal<Me | null>(null);
// Why the sign-in form is shown; empty: no reason.
export const loginError = signal("");
// False until the page knows whether it has a token.
export const decided = signal(false);

const channel = typeof BroadcastChannel === "undefined" ? null : new BroadcastChannel("agentrt");
let token = "";

channel?.addEventListener("message", ({ data }: MessageEvent<{ want?: true; token?: string }>) => {
  if (data.want && token) channel.postMessage({ token });
});

export function can(scope: string): boolean {
  const scopes = me.value?.scopes ?? [];
  return scopes.includes(scope) || scopes.includes("admin");
}

export function connect(given: string): Agentrt {
  return new Agentrt({ url: location.origin, token: given });
}

// Uses a token if the daemon accepts it. Returns whether it did.
async function use(given: string): Promise<boolean> {
  const rt = connect(given);
  try {
    me.value = await rt.request("GET", "/v1/token") as Me;
  } catch (error) {
    if (error instanceof AgentrtError && error.code === "unauthenticated") return false;
    // The daemon does not answer now: keep the token and let the views report it.
    me.value = { tokenId: "", scopes: ["read", "submit", "approve"] };
  }
  token = given;
  sessionStorage.setItem(tokenKey, given);
  client.value = rt;
  loginError.value = "";
  return true;
}

function tokenOfOtherTab(): Promise<string> {
  return new Promise((resolve) => {
    if (!channel) return resolve("");
    const done = (found: string) => {
      clearTimeout(timer);
      channel.removeEventListener("message", listen);
      resolve(found);
    };
    const listen = ({ data }: MessageEvent<{ token?: string }>) => {
      if (data.token) done(data.token);
    };
    const timer = setTimeout(() => done(""), shareWaitMs);
    channel.addEventListener("message", listen);
    channel.postMessage({ want: true });
  });
}

async function trade(code: string): Promise<boolean> {
  try {
    const reply = await connect("").request("POST", "/v1/login", { code }) as { token: string };
    return await use(reply.token);
  } catch (error) {
    loginError.value = error instanceof AgentrtError && error.code === "unauthenticated"
      ? "This link was used already, or it is older than 60 seconds. Run agentrt open again."
      : `The daemon did not answer (${(error as Error).message}). Run agentrt open again.`;
    return false;
  }
}

// Signs in with the login code in the address, the token of this tab, or that of another tab.
export async function begin(): Promise<void> {
  const fragment = new URLSearchParams(location.hash.replace(/^#/, ""));
  const code = fragment.get("login");
  if (code) {
    // Before any request: the code must not stay in the address or in the history.
    const session = fragment.get("session");
    go(session ? `/session/${encodeURIComponent(session)}` : "/", { replace: true });
    await trade(code);
  } else {
    const own = sessionStorage.getItem(tokenKey) ?? "";
    const given = own || await tokenOfOtherTab();
    if (given && !await use(given)) expire();
  }
  decided.value = true;
}

// Signs in with a token that a person typed.
export async function paste(given: string): Promise<void> {
  if (!await use(given))
    loginError.value = "The daemon does not know this token. Run agentrt open for a link.";
}

// The daemon refused the token.
export function expire(): void {
  forget();
  loginError.value = "You are signed out: the token expired or was revoked. Run agentrt open.";
}

export async function signOut(): Promise<void> {
  const rt = client.value;
  forget();
  // The first token cannot be revoked; the page then only forgets it.
  await rt?.request("DELETE", "/v1/token").catch(() => {});
}

function forget(): void {
  token = "";
  sessionStorage.removeItem(tokenKey);
  client.value = null;
  me.value = null;
  loginError.value = "";
}
