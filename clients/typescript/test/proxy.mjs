// A TCP proxy that damages what the server sends: it cuts, stalls, repeats and overflows streams.
import net from "node:net";

export class Proxy {
  // `faults` are taken in turn, one per connection that the server answers with a stream or, for
  // the kinds `drop_reply` and `hang`, with anything. Without one left, bytes pass unchanged.
  static async start(target, faults = []) {
    const proxy = new Proxy();
    proxy.target = target;
    proxy.faults = faults;
    proxy.connections = 0;
    proxy.sockets = new Set();
    proxy.server = net.createServer((client) => proxy.#serve(client));
    await new Promise((resolve) => proxy.server.listen(0, "127.0.0.1", resolve));
    proxy.url = `http://127.0.0.1:${proxy.server.address().port}`;
    return proxy;
  }

  #serve(client) {
    const upstream = net.connect(this.target, "127.0.0.1");
    this.connections += 1;
    let state = null;  // of a damaged reply
    for (const socket of [client, upstream]) {
      this.sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => {
        this.sockets.delete(socket);
        if (state !== "stalled") client.destroy();
        upstream.destroy();
      });
    }
    client.on("data", (bytes) => {
      // The server checks the Host field, so the proxy writes the server's own.
      upstream.write(Buffer.from(bytes.toString("latin1")
        .replace(/\r\nhost: [^\r]*/i, `\r\nHost: 127.0.0.1:${this.target}`), "latin1"));
    });
    let fault, head = true;
    upstream.on("data", (bytes) => {
      if (state === "stalled") return;
      const text = bytes.toString("latin1");
      const stream = /content-type: text\/event-stream/i.test(text);
      if (head && this.faults.length > 0 &&
          (stream || ["drop_reply", "hang"].includes(this.faults[0].kind))) {
        fault = { seen: 0, ...this.faults.shift() };
      }
      head = false;
      if (!fault) return client.write(bytes);
      state = this.#damage(fault, bytes, client) ?? state;
    });
  }

  #damage(fault, bytes, client) {
    if (fault.kind === "drop_reply") return void client.destroy();
    if (fault.kind === "hang") return "stalled";
    const rest = fault.after - fault.seen;
    fault.seen += bytes.length;
    if (fault.kind === "repeat") {
      // Sends every frame of this piece twice. Frames that continue in the next piece pass once.
      const text = bytes.toString("utf8");
      const frames = text.split("\n\n");
      return void client.write(frames.length > 2 && text.endsWith("\n\n") && text.startsWith("id:")
        ? text + text : text);
    }
    if (bytes.length <= rest) return void client.write(bytes);
    if (fault.kind === "overflow") {
      const whole = bytes.lastIndexOf("\n\n", rest) + 2;
      client.write(bytes.subarray(0, whole > 1 ? whole : 0));
      if (whole > 1) client.write('event: stream.overflow\ndata: {"resumeAfter":0}\n\n');
      return void client.end();
    }
    client.write(bytes.subarray(0, rest));
    if (fault.kind === "cut") return void client.destroy();
    return "stalled";
  }

  async end() {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.server.close(resolve));
  }
}
