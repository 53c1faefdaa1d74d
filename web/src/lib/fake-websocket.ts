/** A WebSocket for tests: what was sent is read, and frames of the server are put in. */
export class FakeWebSocket {
  static all: FakeWebSocket[] = [];
  static latest(): FakeWebSocket {
    const latest = FakeWebSocket.all.at(-1);
    if (!latest) throw new Error("no WebSocket was opened");
    return latest;
  }

  readonly protocols: string[];
  readonly sent: Record<string, unknown>[] = [];
  binaryType = "";
  isClosed = false;
  onmessage: ((message: { data: unknown }) => void) | null = null;
  onclose: ((close: { code: number }) => void) | null = null;

  constructor(_url: string, protocols: string[]) {
    this.protocols = protocols;
    FakeWebSocket.all.push(this);
  }

  send(text: string): void {
    this.sent.push(JSON.parse(text));
  }

  close(): void {
    this.isClosed = true;
  }

  /** What was sent of this type, the last of it. */
  lastSent(type: string): Record<string, unknown> {
    const message = this.sent.filter((it) => it.type === type).at(-1);
    if (!message) throw new Error(`no ${type} was sent`);
    return message;
  }

  /** Gives a text frame, and lets promises settle. */
  async text(frame: object): Promise<void> {
    this.onmessage?.({ data: JSON.stringify(frame) });
    await Promise.resolve();
    await Promise.resolve();
  }

  welcome(): Promise<void> {
    return this.text({ type: "welcome", version: "1", protocol: "paned.v1", scopes: ["admin"] });
  }

  binary(kind: number, channel: number, offset: number, text: string): void {
    const bytes = new TextEncoder().encode(text);
    const data = new ArrayBuffer(13 + bytes.length);
    const view = new DataView(data);
    view.setUint8(0, kind);
    view.setUint32(1, channel, true);
    view.setBigUint64(5, BigInt(offset), true);
    new Uint8Array(data, 13).set(bytes);
    this.onmessage?.({ data });
  }

  drop(code = 1006): void {
    this.onclose?.({ code });
  }
}
