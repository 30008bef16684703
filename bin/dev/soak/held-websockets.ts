/**
 * Opens a WebSocket for each token that it receives, and holds the accepted ones until its parent
 * ends the process. It reports how the server answered each.
 */
import { connect, type Socket } from 'node:net';
import { operations } from '../../../fixtures/contract/operations.ts';

/** The parent's order to open WebSockets, one per token. */
export interface WebsocketOrder {
  readonly port: number;
  readonly tokens: readonly string[];
}

/** Reply to the parent after the server has answered every handshake. */
export interface WebsocketOutcomes {
  readonly granted: number;
  /** Number of responses with status 503, an Error body, a request ID and Retry-After. */
  readonly refused: number;
  /** Descriptions of all other responses. */
  readonly problems: readonly string[];
}

/** Number of handshakes at the same time. */
const CONCURRENT = 256;
const PING = 0x89;

process.once('message', (wanted: WebsocketOrder) => {
  void openAll(wanted).then((outcomes) => process.send?.(outcomes));
});

async function openAll({ port, tokens }: WebsocketOrder): Promise<WebsocketOutcomes> {
  const responses: string[] = [];
  const queue = tokens.values();
  const worker = async (): Promise<void> => {
    for (const token of queue) responses.push(await openWebSocket(port, token));
  };
  await Promise.all(Array.from({ length: CONCURRENT }, worker));
  const problems = responses.filter((response) => response !== 'granted' && response !== 'refused');
  const count = (wanted: string) => responses.filter((response) => response === wanted).length;
  return { granted: count('granted'), refused: count('refused'), problems };
}

function openWebSocket(port: number, token: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    let text = '';
    const readHead = (chunk: Buffer): void => {
      text += chunk.toString('latin1');
      if (!text.startsWith('HTTP/1.1 101 ')) return;
      socket.off('data', readHead);
      holdOpen(socket);
      resolve('granted');
    };
    socket.on('data', readHead);
    socket.on('error', (error) => resolve(isRefusal(text) ? 'refused' : String(error)));
    socket.on('close', () => resolve(isRefusal(text) ? 'refused' : `"${text.slice(0, 200)}"`));
    socket.write(handshake(port, token));
  });
}

function handshake(port: number, token: string): string {
  return [
    `GET ${operations.connect.path} HTTP/1.1`,
    `Host: 127.0.0.1:${port}`,
    `Authorization: Bearer ${token}`,
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    '\r\n',
  ].join('\r\n');
}

/** Answers pings, the only frames that the server sends. */
function holdOpen(socket: Socket): void {
  socket.on('data', (frame: Buffer) => {
    if (frame[0] !== PING) return;
    const payload = frame.subarray(2);
    // A mask of zeros leaves the payload unchanged.
    const head = Buffer.from([0x8a, 0x80 + payload.length, 0, 0, 0, 0]);
    socket.write(Buffer.concat([head, payload]));
  });
}

function isRefusal(text: string): boolean {
  const [head = '', body = ''] = text.split('\r\n\r\n');
  return (
    head.startsWith('HTTP/1.1 503 ') &&
    /^Retry-After: \d+$/im.test(head) &&
    /^\{"error":"[^"]+","request_id":"[^"]+"\}$/.test(body)
  );
}
