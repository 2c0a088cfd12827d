// The frame of the page: navigation, connection, and the view that the address names.
import { useEffect, useLayoutEffect, useState } from "preact/hooks";
import { client, decided, me, signOut } from "./auth";
import { openActions, poll, readActions } from "./data";
import { Keys, useKeys } from "./keys";
import { connection } from "./live";
import { route } from "./route";
import { Empty, Link, Logo } from "./ui/parts";
import { Shape, type Tone } from "./ui/status";
import { Inbox } from "./views/inbox";
import { Login } from "./views/login";
import { Session } from "./views/session";
import { Sessions } from "./views/sessions";

const badgeMs = 10_000;

const states: Record<string, { tone: Tone; word: string; meaning: string }> = {
  live: { tone: "succeeded", word: "live", meaning: "You see every fact as it is stored." },
  behind: { tone: "running", word: "behind", meaning: "Older facts are still being read." },
  reconnecting: { tone: "waiting", word: "reconnecting",
    meaning: "The daemon does not answer; what is shown is the last known state." },
  offline: { tone: "failed", word: "offline", meaning: "This machine has no network." },
  signed_out: { tone: "failed", word: "signed out", meaning: "Run agentrt open for a new link." },
};

function Connection() {
  const state = states[connection.value]!;
  return <span class="connection" role="status" data-testid="connection"
    data-state={connection.value} title={state.meaning}>
    <Shape tone={state.tone} /><span>{state.word}</span>
  </span>;
}

function Bar({ onHelp }: { onHelp: () => void }) {
  const page = route.value.page;
  const open = openActions.value?.length ?? 0;
  const current = (name: string) => (page === name ? { "aria-current": "page" } : {});
  return <header class="bar">
    <Link to="/" class="brand" aria-label="agentrt, all sessions"><Logo />
      <span>agentrt</span></Link>
    <nav aria-label="Main">
      <Link to="/" {...current("sessions")}>Sessions</Link>
      <Link to="/inbox" {...current("inbox")}>
        Inbox{open > 0 && <span class="badge" aria-label={`${open} open`}>{open}</span>}
      </Link>
    </nav>
    <div class="bar-end">
      <Connection />
      <button type="button" class="plain" onClick={onHelp} aria-label="Keyboard shortcuts"
        title="Keyboard shortcuts">?</button>
      <button type="button" class="plain" onClick={() => void signOut()}
        title={`Signed in with scopes ${me.value?.scopes.join(", ") ?? ""}`}>Sign out</button>
    </div>
  </header>;
}

function View() {
  const at = route.value;
  // Another view starts at its top; the timeline then goes to its end by itself.
  const place = at.page === "session" ? `${at.sessionId}/${at.view}` : at.page;
  useLayoutEffect(() => scrollTo({ top: 0 }), [place]);
  switch (at.page) {
    case "sessions":
      return <Sessions />;
    case "inbox":
      return <Inbox />;
    case "session":
      return <Session key={at.sessionId} sessionId={at.sessionId} />;
    default:
      return <main class="page"><Empty title={`There is no view at #${at.path}`}>
        <Link to="/">All sessions</Link>
      </Empty></main>;
  }
}

export function App() {
  const rt = client.value;
  const [help, setHelp] = useState(false);
  useKeys(() => setHelp((shown) => !shown));
  useEffect(() => {
    if (!rt) return undefined;
    return poll(badgeMs, (signal) => readActions(rt, signal), { report: false });
  }, [rt]);
  const open = openActions.value?.length ?? 0;
  useEffect(() => {
    document.title = rt && open > 0 ? `(${open}) agentrt` : "agentrt";
  }, [rt, open]);
  if (!decided.value) return <main class="page" aria-busy="true" />;
  if (!rt) return <Login />;
  return <>
    <a class="skip" href="#main" onClick={(event) => {
      event.preventDefault();
      document.querySelector<HTMLElement>("main")?.focus();
    }}>Skip to the content</a>
    <Bar onHelp={() => setHelp(true)} />
    <View />
    {help && <Keys onClose={() => setHelp(false)} />}
  </>;
}
