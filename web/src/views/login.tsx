// The sign-in form, for people without a link.
import { useState } from "preact/hooks";
import { loginError, paste } from "../auth";
import { Copy, Logo } from "../ui/parts";

export function Login() {
  const [text, setText] = useState("");
  const [busy, setBusy] = useState(false);
  const submit = async (event: Event) => {
    event.preventDefault();
    if (!text.trim() || busy) return;
    setBusy(true);
    await paste(text.trim());
    setBusy(false);
  };
  return <main class="login" tabIndex={-1}>
    <form class="login-card" onSubmit={submit}>
      <h1><Logo /> agentrt</h1>
      <p>Run this in a terminal. It prints a link that signs you in.</p>
      <Copy text="agentrt open" class="command" />
      <label for="token">Or paste an access token</label>
      <input id="token" data-testid="login-token" type="password" autocomplete="off"
        spellcheck={false} value={text} onInput={(event) => setText(event.currentTarget.value)} />
      <button type="submit" class="button button-main" data-testid="login-submit"
        disabled={!text.trim() || busy}>Sign in</button>
      <p class="login-error" data-testid="login-error" role="alert">{loginError.value}</p>
    </form>
  </main>;
}
