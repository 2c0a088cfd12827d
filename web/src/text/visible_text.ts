// Every text and tooltip of the page passes here: characters that hide or reorder text become
// visible, whichever view shows them. What a person types stays as it is.
import { options, type VNode } from "preact";
import { safeText } from "./format";

const shownAttributes = ["title", "aria-label", "placeholder"] as const;

export function makeTextVisible(): void {
  const before = options.vnode;
  options.vnode = (vnode: VNode) => {
    const node = vnode as { type: unknown; props: unknown };
    if (node.type === null) {
      // A text node: its props are the text.
      if (typeof node.props === "string") node.props = safeText(node.props);
    } else if (typeof node.type === "string") {
      const props = node.props as Record<string, unknown>;
      for (const name of shownAttributes)
        if (typeof props[name] === "string") props[name] = safeText(props[name]);
    }
    before?.(vnode);
  };
}
