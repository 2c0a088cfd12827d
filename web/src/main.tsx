import { render } from "preact";
import { App } from "./app";
import { begin } from "./auth";
import { makeTextVisible } from "./text/visible_text";
import "./style.css";

makeTextVisible();
void begin();
render(<App />, document.getElementById("app")!);
