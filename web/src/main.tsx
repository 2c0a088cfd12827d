import { render } from "preact";
import { App } from "./app";
import { begin } from "./auth";
import "./style.css";

void begin();
render(<App />, document.getElementById("app")!);
